"""Join conditions of a check symbolically: ``torch._check(a == 1 and b == 2)`` → ``torch._check(sym_and(a == 1, b == 2))``.

What: ``and``, ``or``, chained comparisons, ``in`` and ``all(...)``/``any(...)`` in what a ``torch._check`` tests, when an
operand before the last compares sizes. Concrete operands at the front stay where they are: ``ndim == 4 and sym_and(...)``.

Why: ``and`` calls ``bool()`` on every operand but the last, which decides a size before the check can defer it.

Leaves alone: an operand that is safe to evaluate only after the one before it (an index, a division), and conditions
whose only comparison of sizes stands last, which are right as they are.

Safety: safe. All operands are evaluated, and they are plain comparisons.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..codemods.rule import Context, Fix, Rule, Safety, Skip
from ..codemods.source import SourceFile
from ._findings import CHECK_MARKERS, fix, skip
from ._flow import Flow, flow
from ._joining import Joiner, Unfit
from ._module import Module, parse
from ._territory import obstacle
from ._truths import check_conditions

NAME = "use_sym_and_or"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    known = flow(source)
    for condition in check_conditions(module):
        if not module.in_format_string(condition):
            yield from _answer(module, known, condition, context)


def _answer(module: Module, known: Flow, condition: ast.expr, context: Context) -> Iterator[Fix | Skip]:
    joiner = Joiner(module, known, context)
    try:
        joiner.join(condition)
    except Unfit as unfit:
        yield skip(NAME, module, condition, unfit.reason, unfit.detail)
        return
    if not joiner.edits:
        return
    stop = obstacle(module, module.function_of(condition), context, asked=False)
    if stop:
        yield skip(NAME, module, condition, *stop)
        return
    message = f"`{module.text(condition).decode()}` forces its operands one by one"
    yield fix(NAME, Safety.SAFE, module, condition, joiner.edits, message, joiner.needs)


rule = Rule(NAME, Safety.SAFE, "Python", CHECK_MARKERS, decide, __doc__)
