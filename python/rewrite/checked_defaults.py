"""A default that is checked at run time: where a branch that returns is passed by, the code behind it says so.

On known sizes the check holds, since the branch has returned otherwise. A size that was not known while tracing and
turns out to be the special case is told, where the default alone would give another result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context, Fix, Safety
from ..analysis.comparisons import Default, of_comparison
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


def checked_choice(rule: str, module: Module, choice: ast.IfExp, context: Context) -> Iterator[Fix]:
    """``return x if a > 1 else y`` → ``if guard_or_false(a <= 1): return y``, ``torch._check(a > 1)``, ``return x``."""
    test, statement = choice.test, module.parents[choice]
    if not isinstance(statement, ast.Return) or b"\n" in module.text(statement) or b"#" in module.text(statement):
        return
    indent = module.indentation(statement)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE or indent is None:
        return
    known = flow(module)
    default = of_comparison(leaf_at(known, test, test), test, checked=True)
    guard = spell(module, test, guarded("guard_or_false"), context)
    check = spell(module, test, "torch._check", context)
    if not isinstance(default, Default) or known.comparison(test).of_shapes or guard is None or check is None:
        return
    left, right, body, orelse = (
        module.text(one).decode() for one in (test.left, test.comparators[0], choice.body, choice.orelse)
    )
    text = module.text(test).decode()
    opposite = f"{left} {_OPPOSITE[type(test.ops[0])]} {right}"
    rare, special, usual, general = (opposite, orelse, text, body) if default.truth else (text, body, opposite, orelse)
    unit = _unit(module, statement, indent)
    lines = [f"if {guard.text}({rare}):", f"{unit}return {special}", f"{check.text}({usual})", f"return {general}"]
    edit = Edit(*module.span(statement), f"{module.newline}{indent}".join(lines).encode())
    words = f"an undecided `{text}` is taken as {str(default.truth).lower()}, which is checked at run time"
    message = f"give `{text}` a default that is checked at run time"
    yield fix(rule, module.place(test), [edit], message, (*guard.needs, *check.needs), [words], Safety.UNSAFE)


def _unit(module: Module, statement: ast.stmt, indent: str) -> str:
    """By how much a block is indented here."""
    above = module.parents[statement]
    outer = module.indentation(above) if isinstance(above, ast.stmt) else None
    return indent.removeprefix(outer) if outer is not None else "    "


def checked_default(rule: str, module: Module, branch: ast.If, context: Context) -> Iterator[Fix]:
    """``if a == b: return x`` → ``if guard_or_false(a == b): return x`` and ``torch._check(a != b)`` behind it."""
    test = branch.test
    indent = module.indentation(branch)
    if branch.orelse or not isinstance(branch.body[-1], ast.Return) or indent is None:
        return
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE:
        return
    known = flow(module)
    default = of_comparison(leaf_at(known, test, test), test, checked=True)
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
