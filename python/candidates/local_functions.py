"""Statements as the body of a local function, for operators that take the sides of a choice as functions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...codemods.model.edit import Edit, apply, conflict
from ..analysis.flow.blocks import stored
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..syntax.module import Module

_VIEWS = frozenset(
    """view reshape transpose permute t squeeze unsqueeze flatten unflatten expand expand_as narrow select unfold
    swapaxes movedim diagonal as_strided view_as contiguous to type float double half bfloat16 int long bool detach
    real imag broadcast_to ravel type_as dropout""".split()  # noqa: SIM905
)
"""Functions and methods that may give their input back, or a view of it."""
_VERBS: dict[type[ast.operator], str] = {
    ast.Div: "divide",
    ast.Mult: "scale",
    ast.Add: "add_to",
    ast.Sub: "subtract_from",
    ast.MatMult: "project",
    ast.Pow: "raise",
}
_INDEFINITE = {"self", "torch", "F", "functional", "nn"}


@dataclass(frozen=True)
class Layout:
    """Layout of a function: the blanks before ``def``, those of each further level, and the line ends."""

    indent: str
    unit: str
    newline: str


def function_text(
    module: Module,
    layout: Layout,
    name: str,
    parameters: Sequence[str],
    body: Sequence[ast.stmt],
    results: str,
    edits: Sequence[Edit] = (),
) -> str:
    """Return the definition of a local function: the edited statements of ``body``, then the line that returns."""
    inner = layout.indent + layout.unit
    lines = [f"{layout.indent}def {name}({', '.join(parameters)}):"]
    if body:
        lines.append(shifted(module, body, inner, edits=edits))
    if results:
        lines.append(f"{inner}return {results}")
    return layout.newline.join(lines)


def shifted(
    module: Module,
    statements: Sequence[ast.stmt],
    indent: str,
    *,
    changed: bool = True,
    edits: Sequence[Edit] = (),
) -> str:
    """Return the lines of statements at another depth, out of place where they are ``changed``.

    Raises CannotRewrite.
    """
    own = module.indentation(statements[0])
    if own is None:
        raise CannotRewrite("one-line", f"at line {statements[0].lineno} a block stands on the line of its head")
    for one in (part for statement in statements for part in ast.walk(statement)):
        if isinstance(one, (ast.Constant, ast.JoinedStr)) and one.lineno != one.end_lineno:
            raise CannotRewrite("multi-line-text", f"at line {one.lineno} a text goes over several lines")
    start, end = module.span(statements[0])[0], module.span(statements[-1])[1]
    text = _out_of_place(module, statements, edits) if changed else module.source.content[start:end].decode()
    return reindented(text, own, indent)


def _out_of_place(module: Module, statements: Sequence[ast.stmt], given: Sequence[Edit]) -> str:
    """Return the text of statements in which no tensor changes in place: ``x *= 2`` is ``x = x * 2``."""
    start, end = module.span(statements[0])[0], module.span(statements[-1])[1]
    augmented = [one for part in statements for one in ast.walk(part) if isinstance(one, ast.AugAssign)]
    edits = [Edit(*module.span(one), f"{ast.unparse(one.target)} = {anew(module, one)}".encode()) for one in augmented]
    edits = [*(one for one in edits if not any(conflict(one, other) for other in given)), *given]
    if module.source.content.startswith(b"elif", start) and not any(edit.start == start for edit in given):
        edits.append(Edit(start, start + 2, b""))
    moved = [Edit(edit.start - start, edit.end - start, edit.text) for edit in sorted(edits)]
    return apply(module.source.content[start:end], moved).decode()


def anew(module: Module, node: ast.AugAssign) -> str:
    """Return the value of an augmented assignment as an expression."""
    name, (start, end) = ast.unparse(node.target), module.grouped_span(node.value)
    operator = module.source.content[module.span(node.target)[1] : start].decode().replace("=", "", 1)
    value = module.source.content[start:end].decode()
    bare = isinstance(node.value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    return f"{name}{operator}{value if bare or value.startswith('(') else f'({value})'}"


def reindented(text: str, own: str, indent: str, first: str | None = None) -> str:
    """Return text that begins behind its first line's blanks, with other blanks before each line.

    Raises CannotRewrite.
    """
    lines = re.split(r"(\r?\n)", text)
    moved = [(indent if first is None else first) + lines[0]]
    for at, line in enumerate(lines[1:], 1):
        if at % 2 or not line.strip():
            moved.append(line)
        elif line.startswith(own):
            moved.append(indent + line.removeprefix(own))
        else:
            raise CannotRewrite("odd-indentation", f"`{line.strip()[:40]}` stands further out than its block")
    return "".join(moved)


def tuple_text(parts: Sequence[str]) -> str:
    """Return values as they are returned and unpacked: without parentheses, one alone without a comma."""
    return ", ".join(parts)


def operands_text(parts: Sequence[str]) -> str:
    """Return values as a tuple."""
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def own_text(module: Module, value: ast.expr, side: Sequence[ast.stmt], *, always: bool = False) -> str:
    """Return the text of a result that shares no elements, with ``.clone()`` where it may be an input or a view of one.

    ``always``: of what a call gives, too, which may hand its argument back or have a layout of its own.
    """
    if isinstance(value, ast.Tuple):
        return tuple_text([own_text(module, one, side, always=always) for one in value.elts])
    start, end = module.grouped_span(value)
    text = module.source.content[start:end].decode()
    if not may_alias(value, side, always=always):
        return text
    bare = isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) or text.startswith("(")
    return f"{text if bare else f'({text})'}{copied(always)}"


def copied(always: bool) -> str:
    """Return the call that copies a result. With ``always`` the copy is contiguous, as both sides can be."""
    return ".clone().contiguous()" if always else ".clone()"


def may_alias(value: ast.expr, side: Sequence[ast.stmt], *, always: bool = False, depth: int = 0) -> bool:
    """Return whether a value may be a tensor from outside of a side, or share its elements."""
    if isinstance(value, ast.Name):
        values = _assigned(value.id, side)
        made = bool(values) and None not in values and depth < 4
        return not made or any(
            may_alias(one, side, always=always, depth=depth + 1) for one in values if one is not None
        )
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else ""
        return always or name in _VIEWS
    if isinstance(value, ast.IfExp):
        return any(may_alias(one, side, always=always, depth=depth) for one in (value.body, value.orelse))
    return isinstance(value, (ast.Attribute, ast.Subscript))


def _assigned(name: str, side: Sequence[ast.stmt]) -> list[ast.expr | None]:
    """Return the values that a side gives a name, with None for each that is no plain assignment."""
    found: list[ast.expr | None] = []
    for one in (part for statement in side for part in ast.walk(statement)):
        if isinstance(one, ast.Assign) and len(one.targets) == 1 and is_name(one.targets[0], name):
            found.append(one.value)
        elif isinstance(one, ast.AugAssign) and is_name(one.target, name):
            found.append(ast.BinOp(one.target, one.op, one.value))
        elif isinstance(one, (ast.Assign, ast.AnnAssign, ast.For)) and name in stored([one]):
            found.append(None)
    # Of an `if` the name may come in from outside.
    nested = any(name in stored([one]) for one in side if isinstance(one, (ast.If, ast.For, ast.While)))
    return [*found, None] if nested else found


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def returns_own(
    module: Module, body: Sequence[ast.stmt], edits: Sequence[Edit], *, always: bool = False
) -> tuple[Sequence[ast.stmt], str]:
    """Return the statements of a side that ends in ``return``, and the text of its result. Raises CannotRewrite.

    What ``edits`` write in place of a ``return`` returns by itself.
    """
    last = body[-1]
    returned = [one for statement in body for one in ast.walk(statement) if isinstance(one, ast.Return)]
    kept = [one for one in returned if not any(edit.start <= module.span(one)[0] < edit.end for edit in edits)]
    for one in (one for one in kept if one is not last):
        names = [part for part in (one.value.elts if isinstance(one.value, ast.Tuple) else [one.value]) if part]
        if one.value is None or any(may_alias(part, body, always=always) for part in names):
            raise CannotRewrite("alias", f"at line {one.lineno} a result may be one of the inputs")
    if last not in kept or not isinstance(last, ast.Return):
        return body, ""
    if last.value is None:
        raise CannotRewrite("no-result", f"at line {last.lineno} a side ends without a result")
    return body[:-1], own_text(module, last.value, body, always=always)


class NameChooser:
    """Chooses names of local functions that nothing in the file goes by."""

    def __init__(self, module: Module) -> None:
        tree = ast.walk(module.tree)
        self._taken = {
            one.id if isinstance(one, ast.Name) else one.arg if isinstance(one, ast.arg) else one.name
            for one in tree
            if isinstance(one, (ast.Name, ast.arg, ast.FunctionDef, ast.ClassDef, ast.alias))
        }

    def choose(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name


def described(body: Sequence[ast.stmt], results: Sequence[str]) -> str:
    """Return a verb and its object for what a side does: ``divide_x``, ``apply_norm``, ``return_zeros``."""
    last = body[-1] if body else None
    if last is None:
        return kept_name(results)
    if isinstance(last, ast.Return):
        return _of_value(last.value, "result") if len(body) == 1 else "compute_result"
    if len(body) == 1 and isinstance(last, ast.Assign) and len(results) == 1:
        return _of_value(last.value, results[0])
    if len(body) == 1 and isinstance(last, ast.AugAssign) and len(results) == 1:
        return f"{_VERBS.get(type(last.op), 'change')}_{results[0]}"
    if not results:
        return "compute_result"
    return f"update_{results[0]}" if len(results) == 1 else "update_values"


def kept_name(results: Sequence[str]) -> str:
    """Return the name of the side that leaves everything as it is."""
    return f"keep_{results[0]}" if len(results) == 1 else "keep_values"


def _of_value(value: ast.expr | None, result: str) -> str:
    if isinstance(value, ast.BinOp):
        left = value.left.id if isinstance(value.left, ast.Name) else result
        return f"{_VERBS.get(type(value.op), 'compute')}_{left}".replace("raise_", "raise_power_of_")
    if isinstance(value, ast.Call):
        words = _words(value.func)
        if words:
            return f"apply_{words[-1].lstrip('_').removeprefix('new_')}"
    if isinstance(value, ast.Name):
        return f"take_{value.id}" if value.id != result else f"keep_{result}"
    return f"compute_{result}"


def _words(function: ast.expr) -> list[str]:
    words: list[str] = []
    at = function
    while isinstance(at, (ast.Attribute, ast.Subscript)):
        words[:0] = [at.attr] if isinstance(at, ast.Attribute) else []
        at = at.value
    if isinstance(at, ast.Name):
        words.insert(0, at.id)
    return [one for one in words if one not in _INDEFINITE and one != "forward"]


def joined_blocks(blocks: Iterable[str], newline: str) -> str:
    """Return definitions with a blank line between them."""
    return f"{newline}{newline}".join(blocks)
