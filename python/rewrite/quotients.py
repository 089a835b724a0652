"""A quotient where its divisor is positive and 0 elsewhere, as arithmetic: nobody has to know which it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety
from ..analysis.comparisons import integer
from ..syntax.module import Module
from .findings import fix
from .spelling import spell


def quotient_or_zero(rule: str, module: Module, choice: ast.IfExp, context: Context) -> Iterator[Fix]:
    """``x / (n - 1) if n > 1 else 0`` → ``x / torch.sym_max(n - 1, 1) * torch.sym_max(torch.sym_min(n - 1, 1), 0)``.

    For every whole number ``n`` both are the same: where it is larger than 1 the divisor stays and the factor is 1,
    elsewhere the divisor is 1 and the factor 0. The size is written four times, so it must be a name.
    """
    test = choice.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    quotient, other = choice.body, choice.orelse
    if isinstance(test.ops[0], ast.LtE):
        quotient, other = other, quotient
    elif not isinstance(test.ops[0], ast.Gt):
        return
    if not isinstance(quotient, ast.BinOp) or not isinstance(quotient.op, ast.Div) or _number(other) != 0:
        return
    size, bound = test.left, integer(test.comparators[0])
    if not isinstance(size, ast.Name) or bound is None or not _is_excess(quotient.right, size, bound):
        return
    names = [spell(module, choice, f"torch.{name}", context) for name in ("sym_max", "sym_min")]
    most, least = names
    if most is None or least is None:
        return
    excess = size.id + (f" - {bound}" if bound else "")
    start, end = module.grouped_span(quotient.left)
    dividend = module.source.content[start:end].decode()
    written = f"{dividend} / {most.text}({excess}, 1) * {most.text}({least.text}({excess}, 1), 0)"
    said = module.text(test).decode()
    doubts = [
        f"`{size.id}` is taken for a whole number",
        f"where `{said}` is false, `{dividend}` is evaluated too, and 0 has the sign and the type of the quotient",
    ]
    edit = Edit(*module.span(choice), written.encode())
    message = f"`{said}` chooses between a quotient and 0: a factor of 1 or 0 says the same"
    yield fix(rule, module.place(choice), [edit], message, (*most.needs, *least.needs), doubts, Safety.UNSAFE)


def _is_excess(divisor: ast.expr, size: ast.expr, bound: int) -> bool:
    """Whether the divisor is by how much the size is larger than the bound."""
    if bound == 0 and ast.dump(divisor) == ast.dump(size):
        return True
    return (
        isinstance(divisor, ast.BinOp)
        and isinstance(divisor.op, ast.Sub)
        and ast.dump(divisor.left) == ast.dump(size)
        and _number(divisor.right) == bound
    )


def _number(node: ast.expr) -> int | float | None:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value  # type: ignore[return-value]
    return None
