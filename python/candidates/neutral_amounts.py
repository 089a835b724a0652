"""Branches on an undecided order of sizes, taken with amounts that are neutral where the condition is false.

Under ``a < b`` the value ``b - a`` becomes ``sym_max(b - a, 0)``, and ``a`` becomes ``sym_min(a, b)``. If the order is
known, the result is unchanged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.change_types import Called, OrElse
from ..rewrite.edits import edited
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, guarded, spell
from ..syntax.module import Module
from .inert_branches import assigns_names

_LESS = (ast.Lt, ast.LtE)
_MORE = (ast.Gt, ast.GtE)


def neutral_amounts(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fix that takes a branch on an undecided order with neutral amounts.

    ``if a > b: x = x.narrow(0, 0, b)`` → ``if guard_or_true(a > b): x = x.narrow(0, 0, torch.sym_min(a, b))``.
    """
    test = node.test
    if node.orelse or not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    operands = test.left, test.comparators[0]
    if not assigns_names(node) if context.tried else _rebinds(node, operands):
        return
    if not isinstance(test.ops[0], (*_LESS, *_MORE)):
        return
    lesser, greater = operands if isinstance(test.ops[0], _LESS) else operands[::-1]
    taken = COMPILING if context.tried else guarded("guard_or_true")
    guard = spell(module, node, taken, context)
    names = [spell(module, node, f"torch.{name}", context) for name in ("sym_min", "sym_max")]
    if guard is None or any(name is None for name in names):
        return
    least, most = (name.text for name in names if name is not None)
    texts = {one: module.text(one).decode() for one in (lesser, greater)}
    edits = []
    for statement in _before_rebinding(node, operands):
        for place, kind in _amounts(statement, lesser, greater):
            written = module.text(place).decode()
            both = ", ".join(texts[one] for one in operands)
            text = f"{most}({written}, 0)" if kind == "difference" else f"{least if kind == 'least' else most}({both})"
            edits.append(Edit(*module.span(place), text.encode()))
    if not edits:
        return
    try:
        decided = edited(module, test, [(test, OrElse(guard.text) if context.tried else Called(guard.text))])
    except CannotRewrite:
        return
    said = module.text(test).decode()
    default = f"where `{said}` is not decided its branch is taken, with amounts that do nothing where it is false"
    if context.tried:
        default = f"while compiling the branch of `{said}` is taken, with amounts that do nothing where it is false"
    needs = [need for name in (guard, *names) if name is not None for need in name.needs]
    message = f"take the branch of `{said}` with the smaller or larger of both"
    yield fix(rule, module.place(node), [decided, *edits], message, needs, [default], Safety.UNSAFE)


def _amounts(statement: ast.stmt, lesser: ast.expr, greater: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """Yield the places in a statement that are the difference of the two sizes, or name one of them."""
    small, large = ast.dump(lesser), ast.dump(greater)
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop(0)
        less = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        if isinstance(node, ast.BinOp) and less and (ast.dump(node.left), ast.dump(node.right)) == (large, small):
            yield node, "difference"
            continue
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant) and ast.dump(node) in (small, large):
            yield node, "least" if ast.dump(node) == small else "most"
            continue
        pending += ast.iter_child_nodes(node)


def _rebinds(node: ast.If, operands: tuple[ast.expr, ast.expr]) -> bool:
    """Return whether the body assigns to a name that is compared."""
    compared = {one.id for operand in operands for one in ast.walk(operand) if isinstance(one, ast.Name)}
    inside = (one for statement in node.body for one in ast.walk(statement))
    return any(isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and one.id in compared for one in inside)


def _before_rebinding(node: ast.If, operands: tuple[ast.expr, ast.expr]) -> Iterator[ast.stmt]:
    """Yield the statements of the body up to the first that assigns to a compared name."""
    compared = {one.id for operand in operands for one in ast.walk(operand) if isinstance(one, ast.Name)}
    for statement in node.body:
        yield statement
        stored = (one for one in ast.walk(statement) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        if compared.intersection(one.id for one in stored):
            return
