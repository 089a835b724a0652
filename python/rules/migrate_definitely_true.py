"""Replace the removed ``definitely_true(c)`` and ``definitely_false(c)``.

What: ``definitely_true(c)`` → ``guard_or_false(c)`` and ``definitely_false(c)`` → ``not guard_or_true(c)``.

Why: both are gone since torch 2.8. The new name states the default for an undecided condition.

Leaves alone: functions of these names that the file defines itself.

Safety: safe. Both returned False for an undecided condition, and so do ``guard_or_false`` and ``not guard_or_true``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..rewrite.change_types import Change, Named, Plain
from ..rewrite.findings import cannot_name, change, fix
from ..rewrite.qualified_names import guarded, renamed
from ..rewrite.unused_imports import unused_imports
from ..syntax.module import Module, parse

NAME = "migrate_definitely_true"
_OLD = ("symbolic_shapes.definitely_true", "symbolic_shapes.definitely_false")


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    module = parse(source)
    for node in module.nodes.calls:
        if len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred):
            meaning = module.names.meaning(node.func) or ""
            if meaning.endswith(_OLD):
                yield _answer(module, node, meaning.endswith("false"), context)

    for statement, edit in unused_imports(module, ("definitely_true", "definitely_false")):
        yield fix(NAME, module.place(statement), [edit], "torch 2.8 and newer have nothing to import here")


def _answer(module: Module, call: ast.Call, negated: bool, context: Context) -> Fix | Skip:
    helper = guarded("guard_or_true" if negated else "guard_or_false")
    guard = renamed(module, call.func, helper, context)
    if guard is None:
        return cannot_name(NAME, module.place(call), helper, context)
    changes: list[tuple[ast.expr, Change]] = [(call.func, Named(guard.text))]
    whole: ast.expr = call
    above = module.parents[call]
    if negated and isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
        whole = above
        changes.append((above, Plain.AFFIRMED))
    elif negated:
        changes.append((call, Plain.NEGATED))
    old = module.text(call.func).decode()
    return change(NAME, module.place(whole), changes, f"`{old}` is gone since torch 2.8", guard.needs)


rule = Rule(NAME, Safety.SAFE, "Python", (b"definitely_true", b"definitely_false"), decide, __doc__)
