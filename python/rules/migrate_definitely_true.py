"""Replace the removed ``definitely_true(c)`` and ``definitely_false(c)``.

What: ``definitely_true(c)`` → ``guard_or_false(c)``; ``definitely_false(c)`` → ``guard_or_false(torch.sym_not(c))``.

Why: both are gone since torch 2.8; the new name says what an undecided condition is taken for.

Leaves alone: functions of these names that the file defines itself.

Safety: safe. ``definitely_true`` answered False for what it could not decide, and so does ``guard_or_false``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.engine.source import SourceFile
from ..rewrite.changes import Called, Change, Named
from ..rewrite.findings import cannot_name, change, fix
from ..rewrite.retired import unused_imports
from ..rewrite.spelling import guarded, renamed, spell
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
    guard = renamed(module, call.func, guarded("guard_or_false"), context)
    if guard is None:
        return cannot_name(NAME, module.place(call), guarded("guard_or_false"), context)
    changes: list[tuple[ast.expr, Change]] = [(call.func, Named(guard.text))]
    needs = [*guard.needs]
    if negated:
        opposite = spell(module, call, "torch.sym_not", context)
        if opposite is None:
            return cannot_name(NAME, module.place(call), "torch.sym_not", context)
        needs += opposite.needs
        changes.append((call.args[0], Called(opposite.text)))
    old = module.text(call.func).decode()
    return change(NAME, module.place(call), changes, f"`{old}` is gone since torch 2.8", needs)


rule = Rule(NAME, Safety.SAFE, "Python", (b"definitely_true", b"definitely_false"), decide, __doc__)
