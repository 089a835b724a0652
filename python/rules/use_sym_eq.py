"""Compare whole shapes symbolically: ``torch._check(a.shape == b.shape)`` → ``torch._check(sym_eq(a.shape, b.shape))``.

What: ``==`` of two shapes in the condition of a ``torch._check``.

Why: comparing tuples compares the sizes one by one and guards on each result. ``sym_eq`` joins them into one
expression, which a check can defer to run time.

Leaves alone: comparisons in branches (`guard_size_branches` gives those a default). A list against a tuple (never equal
in Python, but equal for ``sym_eq``). Sides that may be None or contain more than sizes.

Safety: safe if both sides are proven to be tuples, or both lists, of sizes. Else unsafe: ``sym_eq`` considers a list
and a tuple of the same sizes equal, and rejects elements that are no sizes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.decisions.condition_leaves import check_conditions
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import Flow, flow
from ..analysis.must.must_type_inference import surely
from ..analysis.must.sym_operator_equivalence import doubts_of_sym_eq, unfit_for_sym_eq
from ..rewrite.change_types import Equated
from ..rewrite.findings import SIZE_MARKERS, cannot_name, change, skip
from ..rewrite.qualified_names import guarded, spell
from ..syntax.module import Module, parse

NAME = "use_sym_eq"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    if b" == " not in source.content:
        return
    module = parse(source)
    known = flow(module)
    for condition in check_conditions(module):
        for node in _tested(condition):
            yield from _answer(module, known, node, context)


def _tested(condition: ast.expr) -> Iterator[ast.Compare]:
    """Yield the comparisons in a condition, through ``and`` and ``or`` but not through ``not``."""
    if isinstance(condition, ast.BoolOp):
        for value in condition.values:
            yield from _tested(value)
    elif isinstance(condition, ast.Compare):
        yield condition
    elif isinstance(condition, ast.Call):
        for argument in condition.args:
            yield from _tested(argument)


def _answer(module: Module, known: Flow, node: ast.Compare, context: Context) -> Iterator[Fix | Skip]:
    if not isinstance(node.ops[0], ast.Eq) or not known.comparison(node).of_shapes:
        return
    place = module.place(node)
    if place.in_format_string:
        return
    types = surely(module)
    stop = obstacle(place, context) or unfit_for_sym_eq(types, node)
    if stop:
        yield skip(NAME, place, *stop)
        return
    equal = spell(module, node, guarded("sym_eq"), context)
    if equal is None:
        yield cannot_name(NAME, place, guarded("sym_eq"), context)
        return
    message = f"`{place.text}` forces each size"
    changes = [(node, Equated(equal.text))]
    doubts = doubts_of_sym_eq(types, node)
    yield change(NAME, place, changes, message, equal.needs, doubts)


rule = Rule(NAME, Safety.UNSAFE, "Python", SIZE_MARKERS, decide, __doc__)
