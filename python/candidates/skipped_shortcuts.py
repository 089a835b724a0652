"""Removal of shortcuts from traces, if tensor values decide whether they may be taken."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Skip
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import flow
from ..analysis.types.may_types import Kind
from ..rewrite.change_types import Unless
from ..rewrite.findings import change
from ..rewrite.qualified_names import COMPILING, spell
from ..syntax.module import Module

_ASKS = frozenset({"all", "any", "equal", "allclose", "is_nonzero", "item", "sum", "max", "min", "count_nonzero"})


def left_out(rule: str, module: Module, where: tuple[int, int], context: Context) -> Iterator[Fix]:
    """Yield the fix ``if mask.all():`` → ``if not torch.compiler.is_compiling() and mask.all():``.

    The branch must not raise. Only a shortcut may be skipped: the inputs on which it is taken must show that it is one.
    """
    for node in module.nodes.ifs:
        start, end = module.span(node.test)
        if isinstance(node.body[-1], ast.Raise) or not (where[0] <= start and end <= where[1]):
            continue
        asking = [one for one in _operands(node.test) if _asks_values(one)]
        compiling = spell(module, node, COMPILING, context)
        if not asking or compiling is None or obstacle(module.place(node), context, default=True):
            continue
        others = [one for one in _operands(node.test) if one not in asking]
        wholly = any(isinstance(one, ast.Compare) and flow(module).kind(one) is Kind.TRUTH for one in others)
        for left in dict.fromkeys((node.test, asking[0]) if wholly else (asking[0], node.test)):
            text = module.text(left).decode()
            words = f"while compiling `{text}` is not asked and counts as false, which is right for a shortcut"
            made = change(
                rule,
                module.place(node.test),
                [(left, Unless(compiling.text))],
                f"leave the shortcut under `{text}` out of what is traced",
                compiling.needs,
                [words],
            )
            if not isinstance(made, Skip):
                yield made


def _operands(test: ast.expr) -> list[ast.expr]:
    """Return the conditions that must all hold for the branch to be taken."""
    both = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)
    return test.values if both and isinstance(test, ast.BoolOp) else [test]


def _asks_values(node: ast.expr) -> bool:
    calls = (one for one in ast.walk(node) if isinstance(one, ast.Call))
    return any(isinstance(call.func, ast.Attribute) and call.func.attr in _ASKS for call in calls)
