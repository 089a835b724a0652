"""Take a shortcut only when it is known to apply: ``if statically_known_true(n == 1)``.

What: a comparison of sizes that chooses a cheaper way to the same result. It is in a graph pass, on one kind of device,
under a tuning flag, or for one exact value of a scalar.

Why: skipping such a branch only costs time. That is not worth a guard (and a recompilation for every other size), let
alone an error.

Leaves alone: branches that compute something else, loops, code that TorchScript compiles, and code of PyTorch's users
unless requested.

Safety: unsafe. A dynamic size no longer takes the shortcut, even if its hint would allow it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.decisions.branch_kind import branches
from ..analysis.decisions.condition_leaves import ConditionLeaf
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.flow import flow
from ..rewrite.change_types import Called
from ..rewrite.findings import SIZE_MARKERS, cannot_name, change, skip
from ..rewrite.qualified_names import guarded, spell
from ..syntax.module import Module, parse

NAME = "know_statically"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    for branch in branches(flow(module)):
        if branch.shortcut:
            yield _answer(module, branch.leaf, context)


def _answer(module: Module, leaf: ConditionLeaf, context: Context) -> Fix | Skip:
    unfit = obstacle(leaf.place, context, default=True)
    if unfit:
        return skip(NAME, leaf.place, *unfit)
    if leaf.value_taken and not isinstance(leaf.node, ast.Compare):
        return skip(NAME, leaf.place, "value-taken", "`and` and `or` give the value itself here, not its truth")
    if isinstance(leaf.test, ast.While):
        return skip(NAME, leaf.place, "loop-condition", "a loop must know when it ends")
    if not isinstance(leaf.node, ast.Compare) or leaf.compared is None or leaf.compared.of_shapes:
        return skip(NAME, leaf.place, "not-a-comparison", "only a comparison of two numbers is looked up")
    spelled = spell(module, leaf.node, guarded("statically_known_true"), context)
    if spelled is None:
        return cannot_name(NAME, leaf.place, guarded("statically_known_true"), context)
    text = leaf.place.text
    default = f"where `{text}` is not known beforehand, the shortcut is not taken"
    changes = [(leaf.node, Called(spelled.text))]
    return change(NAME, leaf.place, changes, f"`{text}` only saves time", spelled.needs, [default])


rule = Rule(NAME, Safety.UNSAFE, "Python", (*SIZE_MARKERS, b"Number"), decide, __doc__)
