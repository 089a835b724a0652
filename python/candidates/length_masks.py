"""Loops that fill each row of a new tensor up to a length: one comparison of places with lengths in the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix
from ..analysis.flow.blocks import bound_before, read_after, stored
from ..analysis.flow.row_loops import RowLoop, names_in, row_loop
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.qualified_names import spelled_out
from ..syntax.module import Module
from ..syntax.tree import literal
from .local_functions import NameChooser
from .program_branch import ProgramBranch

NAME = "use_length_mask"
_MAKERS = frozenset("zeros ones empty full zeros_like ones_like empty_like full_like".split())  # noqa: SIM905
_COPIES = frozenset("new_zeros new_ones new_empty new_full clone".split())  # noqa: SIM905


def masked(module: Module, node: ast.For, context: Context) -> Iterator[Fix]:
    """``for i, n in enumerate(lengths): m[i, :n] = 1`` → ``m.masked_fill_(arange(m.size(1)) < lengths[:, None], 1)``.

    Raises CannotRewrite.
    """
    loop = row_loop(module, node.target, node.iter)
    if loop is None or not loop.index or node.orelse:
        return
    filled = [_filled(loop, one) for one in node.body]
    if None in filled:
        return
    left = {*stored([node])} & read_after(module, [node])
    if left:
        raise CannotRewrite("step-depends", f"`{min(left)}` of the last step is read behind the loop")
    names = ("torch._check", "torch._assert_async", "torch.arange")
    check, asserts, arange = spelled = [spelled_out(module, node, one, context) for one in names]
    chooser = NameChooser(module)
    places: dict[str, str] = {}
    lines: dict[str, None] = {}
    for tensor, lengths, order, value in (one for one in filled if one is not None):
        _require_new(module, node, tensor)
        if tensor.id in _derived_from(module, node, lengths):
            raise CannotRewrite("step-depends", f"at line {node.lineno} a step reads what another one fills")
        ends = loop.text(lengths)
        counts = module.text(lengths).decode()
        lines[f"{check.text}({tensor.id}.dim() == 2 and {counts}.dim() == 1 and not {counts}.is_floating_point())"] = (
            None
        )
        # A negative length counts from the end of a row.
        lines[f'{asserts.text}(({ends} >= 0).all(), "lengths have to be 0 or more")'] = None
        if tensor.id not in places:
            places[tensor.id] = chooser.choose("places")
        lines[f"{places[tensor.id]} = {arange.text}({tensor.id}.size(1), device={tensor.id}.device)"] = None
        mask, number = f"{places[tensor.id]} {order} {ends}[:, None]", module.text(value).decode()
        lines[f"{loop.text(tensor)}.masked_fill_({mask}, {number})"] = None
    message = f"fill the rows at once: `{ast.unparse(node.body[0])}`"
    branch = ProgramBranch(module, context, [node])
    yield branch.fix(NAME, [*lines], message, [need for one in spelled for need in one.needs])


def _filled(loop: RowLoop, statement: ast.stmt) -> tuple[ast.Name, ast.Name, str, ast.expr] | None:
    """Return the tensor, the lengths, the order of places and lengths, and the number of ``m[i, :n] = 1``, or None."""
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(target, ast.Subscript) or not isinstance(statement, ast.Assign):
        return None
    tensor, places = target.value, target.slice.elts if isinstance(target.slice, ast.Tuple) else ()
    if len(places) != 2 or not loop.is_index(places[0]) or not isinstance(tensor, ast.Name):
        return None
    ends = places[1]
    if not isinstance(ends, ast.Slice) or ends.step is not None or not _is_number(loop.module, statement.value):
        return None
    lower = None if ends.lower is None or literal(ends.lower) == 0 else ends.lower
    end, order = (lower, ">=") if ends.upper is None else (ends.upper, "<") if lower is None else (None, "")
    if isinstance(end, ast.Call) and isinstance(end.func, ast.Attribute) and end.func.attr == "item":
        end = None if loop.are_numbers else end.func.value
    lengths = None if end is None else loop.tensor(end)
    if not isinstance(lengths, ast.Name):
        return None
    return tensor, lengths, order, statement.value


def _require_new(module: Module, node: ast.For, tensor: ast.Name) -> None:
    """Raise CannotRewrite unless a tensor is made in the function before, so that its rows share no elements."""
    function = module.function_of(node)
    made = None if function is None else function.assigned_once.get(tensor.id)
    name = made.func.attr if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) else ""
    of_torch = isinstance(made, ast.Call) and module.names.meaning(made.func) == f"torch.{name}"
    known = name in (_MAKERS if of_torch else _COPIES)
    given = isinstance(made, ast.Call) and any(one.arg in ("out", None) for one in made.keywords)
    if function is None or not known or given or tensor.id in {one.arg for one in function.arguments}:
        raise CannotRewrite("alias", f"at line {node.lineno} `{tensor.id}` is not made in this function")
    if tensor.id not in bound_before(module, node):
        raise CannotRewrite("alias", f"at line {node.lineno} `{tensor.id}` may be made behind the loop")
    for one in ast.walk(function.node):
        of_tensor = isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name) and one.value.id == tensor.id
        if of_tensor and isinstance(one, ast.Attribute) and one.attr.endswith("_"):
            raise CannotRewrite("alias", f"at line {one.lineno} `{tensor.id}.{one.attr}` may change the shape")


def _derived_from(module: Module, node: ast.For, lengths: ast.Name) -> set[str]:
    """Return the names from which lengths are made. Raises CannotRewrite for a name with several values."""
    function = module.function_of(node)
    found: set[str] = set()
    pending = [*names_in(lengths)]
    while pending and function is not None:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        made = function.assigned_once.get(name)
        if made is None and name in function.nodes.stored:
            raise CannotRewrite("alias", f"at line {node.lineno} `{name}` has several values")
        pending += [] if made is None else names_in(made)
    return found


def _is_number(module: Module, node: ast.expr) -> bool:
    """Return whether a value is one number: a literal or ``float("-inf")``."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _is_number(module, node.operand)
    if isinstance(node, ast.Call):
        only = node.args[0] if len(node.args) == 1 and not node.keywords else None
        return module.names.meaning(node.func) == "builtins.float" and isinstance(only, ast.Constant)
    return isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float))
