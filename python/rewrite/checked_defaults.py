"""A default that is checked at run time: where a branch that returns is passed by, the code behind it says so.

On known sizes the check holds, since the branch has returned otherwise. A size that was not known while tracing and
turns out to be the special case is told, where the default alone would give another result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety
from ..analysis.comparisons import of_comparison
from ..analysis.flow import flow
from ..analysis.truths import leaf_at
from ..syntax.module import Module
from .changes import Called
from .findings import fix
from .spelling import guarded, spell
from .writing import edited

_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
}


def checked_default(rule: str, module: Module, branch: ast.If, context: Context) -> Iterator[Fix]:
    """``if a == b: return x`` → ``if guard_or_false(a == b): return x`` and ``torch._check(a != b)`` behind it."""
    test = branch.test
    indent = module.indentation(branch)
    if branch.orelse or not isinstance(branch.body[-1], ast.Return) or indent is None:
        return
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE:
        return
    known = flow(module)
    default = of_comparison(leaf_at(known, test, test), test)
    if getattr(default, "truth", None) is not False or known.comparison(test).of_shapes:
        return
    guard = spell(module, test, guarded("guard_or_false"), context)
    check = spell(module, test, "torch._check", context)
    if guard is None or check is None:
        return
    left, right = (module.text(one).decode() for one in (test.left, test.comparators[0]))
    held = f"{check.text}({left} {_OPPOSITE[type(test.ops[0])]} {right})"
    end = module.span(branch)[1]
    edits = [edited(module, test, [(test, Called(guard.text))])]
    edits.append(Edit(end, end, f"{module.newline}{indent}{held}".encode()))
    text = module.text(test).decode()
    words = f"an undecided `{text}` is taken as false, which is checked at run time"
    message = f"give `{text}` a default that is checked at run time"
    yield fix(rule, module.place(test), edits, message, (*guard.needs, *check.needs), [words], Safety.UNSAFE)
