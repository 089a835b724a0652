"""Explicit sizes for ``reshape``. Inferring a size divides the number of elements and guards on the remainder."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..rewrite.findings import fix
from ..syntax.module import Module

_RESHAPES = frozenset({"reshape", "view"})


def computed_size(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix that computes the size that ``x.reshape(s)`` would infer.

    ``s = [-1] + list(x.shape[k:])`` → ``s = [math.prod(x.shape[:k])] + list(x.shape[k:])``. The preceding statement
    must create the list, so that ``x`` is the same in both.
    """
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in _RESHAPES or len(call.args) != 1:
        return
    given = _made_before(module, call)
    if given is None or not isinstance(given, ast.BinOp) or not isinstance(given.op, ast.Add):
        return
    rest = _sizes_from(given.right, func.value)
    if rest is None or ast.unparse(given.left) != "[-1]" or not isinstance(given.left, ast.List):
        return
    name, needs = _math(module, call)
    if name is None:
        return
    receiver, first = module.text(func.value).decode(), module.text(rest).decode()
    edit = Edit(*module.span(given.left.elts[0]), f"{name}.prod({receiver}.shape[:{first}])".encode())
    default = "sizes of 0 beside the one that is computed are no error"
    message = f"compute the size that `{func.attr}` would infer"
    yield fix(rule, module.place(given.left), [edit], message, needs, [default], Safety.UNSAFE)


def _made_before(module: Module, call: ast.Call) -> ast.expr | None:
    """Return the value that the preceding statement assigns to the argument of the call, or None."""
    statement = next((one for one in module.place(call).ancestors if isinstance(one, ast.stmt)), None)
    around = module.parents.get(statement) if statement is not None else None
    body = getattr(around, "body", None)
    argument = call.args[0]
    if not isinstance(body, list) or statement not in body[1:] or not isinstance(argument, ast.Name):
        return None
    before = body[body.index(statement) - 1]
    named = isinstance(before, ast.Assign) and len(before.targets) == 1 and isinstance(before.targets[0], ast.Name)
    return before.value if named and before.targets[0].id == argument.id else None


def _sizes_from(node: ast.expr, tensor: ast.expr) -> ast.expr | None:
    """Return the ``k`` of ``list(x.shape[k:])`` for this tensor ``x``, or None."""
    inner = node.args[0] if isinstance(node, ast.Call) and ast.unparse(node.func) == "list" and node.args else node
    if not isinstance(inner, ast.Subscript) or not isinstance(inner.slice, ast.Slice):
        return None
    shape = f"{ast.unparse(tensor)}.shape"
    open_ended = inner.slice.upper is None and inner.slice.step is None
    return inner.slice.lower if open_ended and ast.unparse(inner.value) == shape else None


def _math(module: Module, place: ast.AST) -> tuple[str | None, tuple[str, ...]]:
    for local, meaning in module.names.imported_at(place, {"math"}):
        if meaning == "math":
            return local, ()
    return ("math", ("math",)) if module.names.free("math", place) else (None, ())
