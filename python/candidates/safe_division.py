"""Quotients with a possibly zero divisor, as arithmetic that does not guard on it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit, apply
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.decisions.comparisons import integer
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.change_types import OrElse, Unless
from ..rewrite.edits import edited
from ..rewrite.findings import fix
from ..rewrite.qualified_names import COMPILING, spell
from ..syntax.module import Module


def quotient_or_zero(rule: str, module: Module, choice: ast.IfExp, context: Context) -> Iterator[Fix]:
    """Yield the fix that replaces a choice between a quotient and 0 by arithmetic.

    ``x / (n - 1) if n > 1 else 0`` → ``x / torch.sym_max(n - 1, 1) * torch.sym_max(torch.sym_min(n - 1, 1), 0)``. Both
    are equal for every integer ``n``. Above 1 the divisor is unchanged and the factor is 1. Otherwise the divisor is 1
    and the factor 0. The size is written four times, so it must be a name.
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


def floored_divisors(rule: str, module: Module, node: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fix that divides by at least 1 under ``if n > 0:`` or behind ``if n == 0: return …``.

    ``total / n`` → ``total / torch.sym_max(n, 1)`` and ``x.mean()`` → ``x.sum() / torch.sym_max(x.numel(), 1)``. While
    compiling, the quotient is always computed. Inputs with ``n`` 0 must show that the result is the same.
    """
    test = node.test
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or integer(test.comparators[0]) not in (0, 1):
        return
    if node.orelse:
        return
    most, compiling = (spell(module, node, symbol, context) for symbol in ("torch.sym_max", COMPILING))
    function = module.place(node).function
    if most is None or compiling is None or function is None:
        return
    positive = (type(test.ops[0]), integer(test.comparators[0])) in _POSITIVE
    zero = (type(test.ops[0]), integer(test.comparators[0])) in _ZERO
    if not positive and not (zero and isinstance(node.body[-1], ast.Return)):
        return
    end = module.span(node)[1]
    computing: list[ast.AST] = [*node.body] if positive else list(function.nodes.every(ast.expr, ast.expr))
    edits: list[Edit] = []
    for one in {id(part): part for above in computing for part in ast.walk(above)}.values():
        if isinstance(one, (ast.BinOp, ast.Call)) and (positive or module.span(one)[0] >= end):
            edits += _floored(module, one, test.left, most.text)
    if not edits:
        return
    try:
        asked = OrElse(compiling.text) if positive else Unless(compiling.text)
        decided = edited(module, test, [(test, asked)])
    except CannotRewrite:
        return
    said = module.text(test).decode()
    words = f"while compiling `{said}` is not asked, and the divisor is at least 1; {_MEANS}"
    needs = (*most.needs, *compiling.needs)
    message = f"divide by at least 1, which `{said}` kept from being 0"
    yield fix(rule, module.place(node), [decided, *edits], message, needs, [words], Safety.UNSAFE)


def floored_choice(rule: str, module: Module, choice: ast.IfExp, context: Context) -> Iterator[Fix]:
    """Yield the fix ``x.mean() if x.numel() > 0 else 0 * x.sum()`` → ``x.sum() / torch.sym_max(x.numel(), 1)``.

    Inputs of size 0 must show that the other value is the same.
    """
    test = choice.test
    most = spell(module, choice, "torch.sym_max", context)
    if most is None or not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    kind = type(test.ops[0]), integer(test.comparators[0])
    if kind not in _POSITIVE and kind not in _ZERO:
        return
    value = choice.body if kind in _POSITIVE else choice.orelse
    parts = [one for one in ast.walk(value) if isinstance(one, (ast.BinOp, ast.Call))]
    edits = [edit for one in parts for edit in _floored(module, one, test.left, most.text)]
    if not edits:
        return
    start, end = module.span(value)
    moved = [Edit(edit.start - start, edit.end - start, edit.text) for edit in edits]
    said = module.text(test).decode()
    words = f"where `{said}` does not hold the quotient takes the place of the other value; {_MEANS}"
    message = f"divide by at least 1, which `{said}` kept from being 0"
    text = apply(module.source.content[start:end], moved)
    edit = Edit(*module.span(choice), text[1:-1] if isinstance(value, ast.Call) else text)
    yield fix(rule, module.place(choice), [edit], message, most.needs, [words], Safety.UNSAFE)


_POSITIVE = ((ast.Gt, 0), (ast.NotEq, 0), (ast.GtE, 1))
_ZERO = ((ast.Eq, 0), (ast.LtE, 0), (ast.Lt, 1))


def _floored(module: Module, node: ast.BinOp | ast.Call, size: ast.expr, most: str) -> Iterator[Edit]:
    """Yield the edits that keep a quotient, a mean or a loss from dividing by a size that is 0."""
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, (ast.Div, ast.FloorDiv)) and _holds_for(size, node.right):
            start, end = module.grouped_span(node.right)
            yield Edit(start, end, f"{most}({module.text(node.right).decode()}, 1)".encode())
    elif (module.names.meaning(node.func) or "") in _BY_ROWS:
        if len(node.args) == 2 and isinstance(node.args[1], ast.Name) and not node.keywords:
            start, end = module.span(node)
            head = module.source.content[start : end - 1].decode().rstrip().rstrip(",")
            counted = f"({node.args[1].id} != {_IGNORED}).sum().clamp(min=1)"
            yield Edit(start, end, f'({head}, reduction="sum") / {counted})'.encode())
    elif isinstance(node.func, ast.Attribute) and node.func.attr == "mean" and not node.args and not node.keywords:
        measured = _measured(size)
        if measured is not None and measured[0] == ast.dump(node.func.value):
            text = module.text(node.func.value).decode()
            yield Edit(*module.span(node), f"({text}.sum() / {most}({text}.numel(), 1))".encode())


_MEANS = "a mean of nothing is 0 instead of nan"
_BY_ROWS = ("torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")
"""Losses whose mean is the sum divided by the number of labels that are not ignored."""
_IGNORED = -100


def _holds_for(size: ast.expr, divisor: ast.expr) -> bool:
    """Return whether a divisor is nonzero if a size is: it is the size, or one of a tensor with elements."""
    if ast.dump(divisor) == ast.dump(size):
        return True
    asked, divides = _measured(size), _measured(divisor)
    return asked is not None and divides is not None and asked[0] == divides[0] and asked[1] in (divides[1], "numel")


def _measured(size: ast.expr) -> tuple[str, str] | None:
    """Return the tensor and the dimension of a size expression, or None.

    The tensor is a dump of its tree. The dimension is ``numel`` for the number of elements.
    """
    match size:
        case ast.Call(func=ast.Attribute(value=value, attr="numel"), args=[]):
            return ast.dump(value), "numel"
        case ast.Call(func=ast.Attribute(value=value, attr="size"), args=[dimension]):
            return ast.dump(value), ast.unparse(dimension)
        case ast.Subscript(value=ast.Attribute(value=value, attr="shape"), slice=dimension):
            return ast.dump(value), ast.unparse(dimension)
        case ast.Call(func=ast.Name(id="len"), args=[value]):
            return ast.dump(value), "0"
    return None


def _is_excess(divisor: ast.expr, size: ast.expr, bound: int) -> bool:
    """Return whether the divisor is the difference of the size and the bound."""
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
