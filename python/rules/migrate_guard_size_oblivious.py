"""Replace the deprecated ``guard_size_oblivious(n == 0)`` by a guard with an explicit default.

What: ``guard_size_oblivious(e)`` → ``guard_or_false(e)`` or ``guard_or_true(e)``, by the operands of ``e`` and the code
of its branches. In a branch that only saves time it becomes ``statically_known_true(e)``. If neither default is right
in general, such as for an order of two sizes, it becomes ``e`` itself. Such a condition must then be known.

Why: ``guard_size_oblivious`` assumed that no size is 0 or 1, regardless of the branch. Deprecated since torch 2.8.

Leaves alone: calls with other than one argument, and functions of that name that the file defines itself.

Safety: unsafe. For an undecided size the default is now explicit, and may differ from the implied one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.decisions.branch_kind import only_optimizes
from ..analysis.decisions.comparisons import NoDefault
from ..analysis.decisions.condition_leaves import leaf_at
from ..analysis.decisions.default_choice import general
from ..analysis.flow.flow import Flow, flow
from ..rewrite.change_types import Named, Uncalled
from ..rewrite.findings import cannot_name, change, fix
from ..rewrite.qualified_names import guarded, renamed
from ..rewrite.unused_imports import unused_imports
from ..syntax.module import Module, parse
from ..syntax.tree import last_word

NAME = "migrate_guard_size_oblivious"
_OLD = "guard_size_oblivious"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    known = flow(module)
    spelled = module.names.spellings(frozenset({_OLD}))
    for node in module.nodes.calls:
        if last_word(node.func) not in spelled:
            continue
        if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
            continue
        if (module.names.meaning(node.func) or "").endswith(f"symbolic_shapes.{_OLD}"):
            yield _answer(module, known, node, context)

    for statement, edit in unused_imports(module, (_OLD,)):
        message = f"nothing uses `{_OLD}` any more"
        yield fix(NAME, module.place(statement), [edit], message, doubts=["importers of the name lose it"])


def _answer(module: Module, known: Flow, call: ast.Call, context: Context) -> Fix | Skip:
    condition = call.args[0]
    default = general(known, leaf_at(known, condition, call))
    text = module.text(condition).decode()
    if only_optimizes(known, leaf_at(known, call, call)):
        helper, words = "statically_known_true", f"where `{text}` is not known beforehand, the shortcut is not taken"
    elif isinstance(default, NoDefault):
        words = f"an undecided `{text}` raises: {default.detail}"
        grouped = isinstance(module.parents[call], ast.UnaryOp) or b"\n" in module.text(call)
        changes = [(call, Uncalled(grouped))]
        return change(NAME, module.place(call), changes, f"`{_OLD}` is deprecated", doubts=[words])
    else:
        truth = str(default.truth).lower()
        helper, words = f"guard_or_{truth}", f"an undecided `{text}` is taken as {truth}: {default.why}"
    spelled = renamed(module, call.func, guarded(helper), context)
    if spelled is None:
        return cannot_name(NAME, module.place(call), guarded(helper), context)
    named = [(call.func, Named(spelled.text))]
    return change(NAME, module.place(call), named, f"`{_OLD}` is deprecated", spelled.needs, [words])


rule = Rule(NAME, Safety.UNSAFE, "Python", (_OLD.encode(),), decide, __doc__)
