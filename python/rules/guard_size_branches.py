"""Give a branch on a size an explicit default: ``guard_or_false(n == 0)``, ``guard_or_true(n != 1)``.

What: a comparison of sizes that a branch, a conditional expression, a comprehension or an ``and``/``or`` forces. It
becomes ``guard_or_false(...)`` or ``guard_or_true(...)``. Shapes are compared by ``sym_eq``.

Why: for an unbacked size ``if n == 0`` raises a data-dependent error. An undecided comparison now takes the path that
is right for the general case. There a size is neither 0 nor 1, two sizes are not equal, and a special case is not
taken.

Leaves alone: an order of two sizes (neither branch is general), an order of strides, and loops that end by a size.
Branches that decide how many values are returned. A case that avoids a division by zero in the other branch (``if low
== high: ... / (high - low)``). Branches that only raise (those become checks). Code that TorchScript compiles, and code
of PyTorch's users unless requested.

Safety: unsafe. For an undecided size it changes which path runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.decisions.branch_kind import branches
from ..analysis.decisions.comparisons import NoDefault
from ..analysis.decisions.condition_leaves import ConditionLeaf
from ..analysis.decisions.default_choice import general
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import Flow, flow
from ..analysis.must.must_type_inference import surely
from ..analysis.must.sym_operator_equivalence import compared_one_by_one, unfit_for_sym_eq
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.must_types import ScalarType
from ..rewrite.change_types import Called, Change, Chosen, Compared, Equated, Plain
from ..rewrite.findings import SIZE_MARKERS, cannot_name, change, skip
from ..rewrite.qualified_names import Spelled, guarded, spell
from ..syntax.module import Module, Place, parse

NAME = "guard_size_branches"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    known = flow(module)
    for branch in branches(known):
        if not branch.shortcut and not branch.leaf.scalar:
            yield _answer(module, known, branch.leaf, context)


def _answer(module: Module, known: Flow, leaf: ConditionLeaf, context: Context) -> Fix | Skip:
    unfit = obstacle(leaf.place, context, default=True)
    if unfit:
        return skip(NAME, leaf.place, *unfit)
    if leaf.value_taken and (isinstance(leaf.test, ast.Call) or not isinstance(leaf.node, ast.Compare)):
        return skip(NAME, leaf.place, "value-taken", "`and` and `or` give the value itself here, not its truth")
    if isinstance(leaf.node, ast.Call) and _contiguity(leaf.node):
        return skip(NAME, leaf.place, "contiguity-under-check", "is_contiguous() of undecided sizes")
    default = general(known, leaf)
    if isinstance(default, NoDefault):
        return skip(NAME, leaf.place, default.reason, default.detail)
    text = leaf.place.text
    taken = f"an undecided `{text}` is taken as {str(default.truth).lower()}: {default.why}"
    doubts = [taken]
    if isinstance(leaf.node, ast.Compare) and leaf.compared is not None and leaf.compared.of_shapes:
        return _on_shapes(leaf.place, leaf.node, context, doubts)
    helper = guarded(f"guard_or_{str(default.truth).lower()}")
    guard = spell(module, leaf.node, helper, context)
    if guard is None:
        return cannot_name(NAME, leaf.place, helper, context)
    if isinstance(leaf.node, ast.Compare) and isinstance(leaf.node.ops[0], (ast.In, ast.NotIn)):
        return _on_choices(leaf.place, leaf.node, guard, doubts)
    if _asked_for_truth(leaf.node) and surely(module).of(leaf.node) not in (ScalarType.WHOLE, ScalarType.NUMBER):
        return skip(NAME, leaf.place, "may-be-none", f"`{text}` may be None, which `!= 0` says nothing about")
    changes: list[tuple[ast.expr, Change]] = [(leaf.node, Called(guard.text))]
    if _asked_for_truth(leaf.node):
        changes.insert(0, (leaf.node, Compared("!=")))
    message = f"give `{text}` a default"
    return change(NAME, leaf.place, changes, message, guard.needs, doubts)


def _on_shapes(place: Place, shapes: ast.Compare, context: Context, doubts: list[str]) -> Fix | Skip:
    """Return the change ``a.shape != b.shape`` → ``not guard_or_false(sym_eq(a.shape, b.shape))``.

    Shapes differ in the general case.
    """
    unfit = unfit_for_sym_eq(surely(place.module), shapes)
    if unfit:
        return skip(NAME, place, *unfit)
    guard = spell(place.module, shapes, guarded("guard_or_false"), context)
    equal = spell(place.module, shapes, guarded("sym_eq"), context)
    if guard is None or equal is None:
        return cannot_name(NAME, place, guarded("sym_eq"), context)
    changes: list[tuple[ast.expr, Change]] = [(shapes, Equated(equal.text)), (shapes, Called(guard.text))]
    if isinstance(shapes.ops[0], ast.NotEq):
        changes.append((shapes, Plain.NEGATED))
    message = f"compare the shapes without forcing each size: `{place.text}`"
    return change(NAME, place, changes, message, (*guard.needs, *equal.needs), doubts)


def _on_choices(place: Place, node: ast.Compare, guard: Spelled, doubts: list[str]) -> Fix | Skip:
    """Return the change ``n in (0, 1)`` → ``guard_or_false(n == 0) or guard_or_false(n == 1)``."""
    try:
        compared_one_by_one(surely(place.module), node)
    except CannotRewrite as unfit:
        return skip(NAME, place, unfit.reason, unfit.detail)
    changes = [(node, Chosen(isinstance(node.ops[0], ast.In), each=guard.text))]
    message = f"`{place.text}` compares one after the other"
    return change(NAME, place, changes, message, guard.needs, doubts)


def _contiguity(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "is_contiguous"


def _asked_for_truth(node: ast.expr) -> bool:
    """Return whether an expression is a bare size, not a comparison or a call that compares."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in _SIZE_CALLS
    return not isinstance(node, ast.Compare)


_SIZE_CALLS = frozenset({"size", "numel", "stride", "storage_offset", "item", "nelement"})

rule = Rule(NAME, Safety.UNSAFE, "Python", SIZE_MARKERS, decide, __doc__)
