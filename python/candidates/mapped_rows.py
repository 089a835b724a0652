"""Stacked results of the rows of a tensor: ``torch.vmap`` in the program, the loop in eager.

A called method runs once for all rows. The proof compares what it leaves in buffers and attributes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...codemods.model.edit import Edit, apply
from ...codemods.model.rule import Context, Fix
from ..analysis.flow.blocks import following, preceding, read_after, stored
from ..analysis.flow.row_loops import RowLoop, is_path, names_in, require_apart, row_loop
from ..analysis.must.effects import require_pure
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.qualified_names import spelled_out
from ..syntax.module import Module
from ..syntax.tree import literal
from .local_functions import Layout, NameChooser, described, function_text, is_name
from .program_branch import ProgramBranch

NAME = "use_vmap"
_STACK = "torch.stack"
_ONCE = "in the program each call of a step runs once, for all rows"
_FIRST = {ast.Attribute: "value", ast.Subscript: "value", ast.Call: "func", ast.BinOp: "left"}
"""Part of an expression that is evaluated before its other parts."""


@dataclass(frozen=True)
class _Collected:
    loop: RowLoop
    body: Sequence[ast.stmt]
    value: ast.expr
    join: ast.Call
    """The call that joins the results."""
    statements: Sequence[ast.stmt]
    """From the empty list to the statement that joins."""


def mapped(module: Module, node: ast.For | ast.ListComp, context: Context) -> Iterator[Fix]:
    """``torch.stack([f(row) for row in x])`` → ``torch.vmap(f)(x)``, also where a loop appends to a list.

    Raises CannotRewrite.
    """
    found = _appended(module, node) if isinstance(node, ast.For) else _listed(module, node)
    if found is None:
        return
    if found.loop.are_numbers:
        raise CannotRewrite("number-of-step", f"at line {found.value.lineno} a step takes a number of Python's")
    require_pure(module, [*found.body, found.value])
    require_apart(found.loop, found.body, found.value)
    _require_known_calls(module, found)
    _require_own_names(module, found)
    joining = _joining(found.join)
    check, vmap = (spelled_out(module, found.join, one, context) for one in ("torch._check", "torch.vmap"))
    branch = ProgramBranch(module, context, found.statements)
    lines, call = _mapping(found, branch.layout, vmap.text)
    tensors = dict.fromkeys(
        ast.unparse(tensor) for one in (*found.body, found.value) for _, tensor in found.loop.parts(one)
    )
    # To stack no result raises. Rows of one number promote dtypes otherwise than tensors of them.
    needed = " and ".join([*(f"{one}.dim() > 1" for one in tensors), f"{found.loop.steps} > 0"])
    lines.insert(0, f"{check.text}({needed})")
    lines.append(branch.replaced(found.join, f"{call}{joining}.clone().contiguous()"))
    message = f"compute `{ast.unparse(found.value)}` of all rows by torch.vmap"
    yield branch.fix(NAME, lines, message, (*check.needs, *vmap.needs), [_ONCE])


def _require_known_calls(module: Module, found: _Collected) -> None:
    """Raise CannotRewrite where a step calls something else than functions of torch and methods."""
    if isinstance(found.value, (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Starred)):
        raise CannotRewrite("not-row-wise", f"at line {found.value.lineno} a step gives no tensor")
    for call in (one for part in (*found.body, found.value) for one in ast.walk(part) if isinstance(one, ast.Call)):
        meaning = module.names.meaning(call.func) or ""
        of_torch = meaning.startswith("torch.") and meaning.rpartition(".")[2].islower()
        method = isinstance(call.func, ast.Attribute) and not meaning
        if not (of_torch or method):
            text = ast.unparse(call.func)
            raise CannotRewrite(
                "unknown-call", f"at line {call.lineno} each step may call `{text}` with another result"
            )


def _require_own_names(module: Module, found: _Collected) -> None:
    """Raise CannotRewrite where something besides the loop may read or bind a name that a step binds."""
    function = module.function_of(found.value)
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Global, ast.Nonlocal)
    nodes = () if function is None else ast.walk(function.node)
    shared = next((one for one in nodes if isinstance(one, inner) and one is not function.node), None)  # type: ignore[union-attr]
    if found.body and (shared is not None or function is None):
        raise CannotRewrite("shared-names", f"at line {found.value.lineno} another function may share the step's names")


def _mapping(found: _Collected, layout: Layout, vmap: str) -> tuple[list[str], str]:
    """Return the lines in front of a call of ``torch.vmap``, and the call. Raises CannotRewrite."""
    module, chooser = found.loop.module, NameChooser(found.loop.module)
    names: dict[str, str] = {}
    rows: list[str] = []
    edits: list[Edit] = []
    for node, tensor in (part for one in (*found.body, found.value) for part in found.loop.parts(one)):
        whole = found.loop.text(tensor)
        if whole not in names:
            own = isinstance(node, ast.Name)
            last = tensor.attr if isinstance(tensor, ast.Attribute) else ast.unparse(tensor)
            names[whole] = ast.unparse(node) if own else chooser.choose(f"{last}_row")
            rows.append(whole)
        edits.append(Edit(*module.span(node), names[whole].encode()))
    if not rows:
        raise CannotRewrite("not-row-wise", f"at line {found.value.lineno} a step takes no row")
    text = _edited(module, found.value, edits)
    parameters = ", ".join(names.values())
    if found.body:
        function = chooser.choose(described(found.body, []))
        if "\n" in text:
            raise CannotRewrite("several-lines", f"at line {found.value.lineno} a result goes over several lines")
        inside = [one for one in edits if one.start < module.span(found.body[-1])[1]]
        written = function_text(module, layout, function, [*names.values()], found.body, text, inside)
        return ["", written.removeprefix(layout.indent), ""], f"{vmap}({function})({', '.join(rows)})"
    called = found.value.func if isinstance(found.value, ast.Call) else None
    alone = (
        called is not None
        and text == f"{ast.unparse(called)}({parameters})"
        and not names_in(called) & {*names.values()}
    )
    function = text.removesuffix(f"({parameters})") if alone else f"lambda {parameters}: {text}"
    return [], f"{vmap}({function})({', '.join(rows)})"


def _edited(module: Module, node: ast.expr, edits: Sequence[Edit]) -> str:
    start, end = module.grouped_span(node)
    inside = [Edit(one.start - start, one.end - start, one.text) for one in sorted(edits) if start <= one.start < end]
    return apply(module.source.content[start:end], inside).decode()


def _joining(join: ast.Call) -> str:
    """Return the text behind the call of vmap that moves the dimension of the rows to its place."""
    given = [*join.args[1:2], *(one.value for one in join.keywords)]
    dimension = literal(given[0]) if given else 0
    if not isinstance(dimension, int) or dimension < 0:
        raise CannotRewrite("not-row-wise", f"at line {join.lineno} the dimension of the rows is unknown")
    return f".movedim(0, {dimension})" if dimension else ""


def _listed(module: Module, node: ast.ListComp) -> _Collected | None:
    """Return the parts of ``torch.stack([f(row) for row in x])``, or None."""
    join = module.parents[node]
    only = node.generators[0]
    if len(node.generators) > 1 or only.ifs or only.is_async:
        return None
    loop = row_loop(module, only.target, only.iter)
    if loop is None or not isinstance(join, ast.Call) or not _joins(module, join, node):
        return None
    statement = next(one for one in module.place(join).ancestors if isinstance(one, ast.stmt))
    return _Collected(loop, [], node.elt, join, [statement]) if _begins_with(statement, join) else None


def _appended(module: Module, node: ast.For) -> _Collected | None:
    """Return the parts of a loop that appends to an empty list just above, which is joined just behind, or None."""
    loop = row_loop(module, node.target, node.iter)
    last = node.body[-1]
    call = last.value if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) else None
    around = [*preceding(module, node)[-1:], *following(module, node)[:1]]
    if loop is None or node.orelse or call is None or len(around) < 2:
        return None
    first, behind = around
    name = _empty_list(first)
    appends = isinstance(call.func, ast.Attribute) and call.func.attr == "append" and is_name(call.func.value, name)
    if not name or not appends or len(call.args) != 1 or call.keywords:
        return None
    joins = [
        one
        for one in ast.walk(behind)
        if isinstance(one, ast.Call) and one.args and is_name(one.args[0], name) and _joins(module, one, one.args[0])
    ]
    function = module.function_of(node)
    uses = [] if function is None else [one for one in ast.walk(function.node) if is_name(one, name)]
    if len(joins) != 1 or len(uses) != 3 or not _begins_with(behind, joins[0]):
        return None
    left = {*stored([node])} & read_after(module, [node])
    if left:
        raise CannotRewrite("step-depends", f"`{min(left)}` of the last step is read behind the loop")
    return _Collected(loop, node.body[:-1], call.args[0], joins[0], [first, node, behind])


def _empty_list(statement: ast.stmt) -> str:
    """Return the name that a statement gives an empty list, or ""."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return ""
    target, value = statement.targets[0], statement.value
    return target.id if isinstance(target, ast.Name) and isinstance(value, ast.List) and not value.elts else ""


def _joins(module: Module, call: ast.Call, results: ast.expr) -> bool:
    known = module.names.meaning(call.func) == _STACK and all(one.arg == "dim" for one in call.keywords)
    return known and len(call.args) + len(call.keywords) <= 2 and call.args[:1] == [results]


def _begins_with(statement: ast.stmt, call: ast.Call) -> bool:
    """Return whether an assignment or ``return`` evaluates a call before anything else."""
    at = statement.value if isinstance(statement, (ast.Assign, ast.Return)) else None
    while at is not None and at is not call:
        if isinstance(at, ast.Call) and is_path(at.func):
            at = at.args[0] if at.args else None
        elif isinstance(at, ast.Tuple):
            at = at.elts[0] if at.elts else None
        else:
            at = getattr(at, _FIRST.get(type(at), ""), None)
    return at is call
