"""Defaults that are checked at run time: a branch that returns is skipped, and a check follows it.

On known sizes the check holds, since the branch returns otherwise. If a size that was undecided during tracing is the
special case, the check raises. An unchecked default would give a different result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ..analysis.decisions.comparisons import Default, of_comparison
from ..analysis.decisions.condition_leaves import leaf_at
from ..analysis.flow.flow import flow
from ..rewrite.change_types import Called
from ..rewrite.edits import edited
from ..rewrite.findings import fix
from ..rewrite.qualified_names import Spelled, guarded, spell
from ..syntax.module import Module

_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
}


def checked_choice(rule: str, module: Module, choice: ast.IfExp, context: Context) -> Iterator[Fix]:
    """Yield the fix of ``return x if a > 1 else y`` with a default that is checked at run time.

    The result is ``if guard_or_false(a <= 1): return y``, ``torch._check(a > 1)``, ``return x``.
    """
    statement = module.parents[choice]
    if not isinstance(statement, ast.Return) or b"\n" in module.text(statement) or b"#" in module.text(statement):
        return
    indent = module.indentation(statement)
    checked = _checked(module, choice.test, context)
    if checked is None or indent is None:
        return
    general, special = (module.text(one).decode() for one in (choice.body, choice.orelse))
    rare, usual = checked.opposite, checked.text
    if not checked.truth:
        rare, usual, general, special = usual, rare, special, general
    lines = [
        f"if {checked.guard.text}({rare}):",
        f"{module.unit_of_indentation(statement)}return {special}",
        f"{checked.check.text}({usual})",
        f"return {general}",
    ]
    yield checked.fix(rule, [Edit(*module.span(statement), f"{module.newline}{indent}".join(lines).encode())])


def checked_default(rule: str, module: Module, branch: ast.If, context: Context) -> Iterator[Fix]:
    """Yield the fix ``if a == b: return x`` → ``if guard_or_false(a == b): return x``, with a check behind it.

    The check is ``torch._check(a != b)``.
    """
    indent = module.indentation(branch)
    if branch.orelse or not isinstance(branch.body[-1], ast.Return) or indent is None:
        return
    checked = _checked(module, branch.test, context)
    if checked is None or checked.truth:
        return
    end = module.span(branch)[1]
    behind = f"{module.newline}{indent}{checked.check.text}({checked.opposite})"
    guarding = edited(module, branch.test, [(branch.test, Called(checked.guard.text))])
    yield checked.fix(rule, [guarding, Edit(end, end, behind.encode())])


@dataclass(frozen=True)
class _Checked:
    """A comparison with a default: its opposite, and the local names of the guard and the check."""

    module: Module
    test: ast.Compare
    truth: bool
    guard: Spelled
    check: Spelled

    @property
    def text(self) -> str:
        return self.module.text(self.test).decode()

    @property
    def opposite(self) -> str:
        left, right = (self.module.text(one).decode() for one in (self.test.left, self.test.comparators[0]))
        return f"{left} {_OPPOSITE[type(self.test.ops[0])]} {right}"

    def fix(self, rule: str, edits: Sequence[Edit]) -> Fix:
        taken, other = (str(truth).lower() for truth in (self.truth, not self.truth))
        words = f"an undecided `{self.text}` is taken as {taken}; the program refuses `{self.text}` being {other}"
        message = f"give `{self.text}` a default that is checked at run time"
        needs = (*self.guard.needs, *self.check.needs)
        return fix(rule, self.module.place(self.test), edits, message, needs, [words], Safety.UNSAFE)


def _checked(module: Module, test: ast.expr, context: Context) -> _Checked | None:
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in _OPPOSITE:
        return None
    known = flow(module)
    default = of_comparison(leaf_at(known, test, test), test, checked=True)
    guard = spell(module, test, guarded("guard_or_false"), context)
    check = spell(module, test, "torch._check", context)
    if not isinstance(default, Default) or known.comparison(test).of_shapes or guard is None or check is None:
        return None
    return _Checked(module, test, default.truth, guard, check)
