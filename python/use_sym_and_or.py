"""Join what a check tests symbolically: ``_check(a == 1 and b == 2)`` → ``_check(sym_and(a == 1, b == 2))``.

What: ``and``, ``or``, chained comparisons, ``in`` and ``all(...)``/``any(...)`` in what a ``torch._check`` tests,
when an operand before the last compares sizes. Concrete operands at the front stay where they are: ``ndim == 4 and
sym_and(...)``.

Why: ``and`` calls ``bool()`` on every operand but the last, which decides a size before the check can defer it.

Leaves alone: an operand that is safe to evaluate only after the one before it (an index, a division), and conditions
whose only comparison of sizes stands last, which are right as they are.

Safety: safe where every operand surely is a bool and can be evaluated in any case: names, constants, sums and products
of sizes, what a tensor of enough dimensions says of itself. Else unsafe, and the fix says which values it does not hold
for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..codemods.engine.edits import Edit
from ..codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from ..codemods.engine.source import SourceFile
from ._findings import CHECK_MARKERS, doubted, fix, safety_of, skip
from ._flow import Flow, flow
from ._joining import Joiner
from ._module import Module, parse
from ._rendering import Renderer
from ._surely import Surely, surely
from ._territory import doubts_of_script, obstacle
from ._together import Unfit
from ._truths import check_conditions, forced_parts

NAME = "use_sym_and_or"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    known = flow(module)
    for condition in check_conditions(module):
        if not module.in_format_string(condition):
            yield from _answer(module, known, condition, context)


def _answer(module: Module, known: Flow, condition: ast.expr, context: Context) -> Iterator[Fix | Skip]:
    try:
        edits, needs, doubts = _joined(surely(module), known, condition, context)
    except Unfit as unfit:
        yield skip(NAME, module, condition, unfit.reason, unfit.detail)
        return
    if not edits:
        return
    stop = obstacle(module, module.function_of(condition), context, asked=False)
    if stop:
        yield skip(NAME, module, condition, *stop)
        return
    doubts = [*doubts, *doubts_of_script(module, module.function_of(condition))]
    message = f"`{module.text(condition).decode()}` forces its operands one by one"
    yield fix(NAME, safety_of(doubts), module, condition, edits, message, needs, doubted(doubts))


def _joined(
    known: Surely, flow: Flow, condition: ast.expr, context: Context
) -> tuple[tuple[Edit, ...], list[str], list[str]]:
    """The edits, the imports they need and the doubts; ``not (a and b)`` is written anew by De Morgan's laws."""
    module = known.module
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        if not any(True for _ in forced_parts(condition, flow)):
            return (), [], []
        renderer = Renderer(known, context, condition)
        text = renderer.condition(condition, True).encode()
        edits = () if text == module.text(condition) else (Edit(*module.span(condition), text),)
        return edits, renderer.needs, renderer.doubts
    joiner = Joiner(known, context)
    joiner.join(condition)
    return joiner.edits, joiner.needs, joiner.doubts


rule = Rule(NAME, Safety.UNSAFE, "Python", CHECK_MARKERS, decide, __doc__)
