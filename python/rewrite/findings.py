"""How the rules write down what they found."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Fix, Safety, Skip
from ..analysis.unfit import Unfit
from ..syntax.module import Module
from .changes import Changes
from .writing import edited

SIZE_MARKERS = (
    b".shape",
    b".size(",
    b".numel(",
    b".stride(",
    b".item(",
    b"SymInt",
    b"IntLike",
    b"ShapeType",
    b"Shape,",
)
CHECK_MARKERS = (
    b"_check(",
    b"_check_value(",
    b"_check_index(",
    b"_check_type(",
    b"_check_not_implemented(",
    b"_check_with(",
)
BRANCH = 2
"""The failure mode of everything here: a branch on a SymInt in Python."""


def fix(
    rule: str,
    safety: Safety,
    module: Module,
    node: ast.AST,
    edits: Iterable[Edit],
    message: str,
    needs: Iterable[str] = (),
    default: str | None = None,
) -> Fix:
    """A Fix at ``node``, with the function it stands in."""
    function = module.place(node).function
    return Fix(
        rule,
        BRANCH,
        safety,
        tuple(edits),
        " ".join(message.split()),
        function.qualname if function else None,
        " ".join(default.split()) if default else None,
        tuple(dict.fromkeys(needs)),
    )


def change(
    rule: str,
    safety: Safety,
    module: Module,
    node: ast.expr,
    changes: Changes,
    message: str,
    needs: Iterable[str] = (),
    default: str | None = None,
) -> Fix | Skip:
    """The Fix that makes ``changes`` to ``node`` and its parts, or the Skip that says why they can't be made."""
    (whole, *others) = {part for part, _ in changes}
    try:
        edit = edited(module, node if others else whole, changes)
    except Unfit as unfit:
        return skip(rule, module, node, unfit.reason, unfit.detail)
    return fix(rule, safety, module, node, [edit], message, needs, default)


def safety_of(doubts: Sequence[str]) -> Safety:
    """Safe when nothing speaks against it."""
    return Safety.UNSAFE if doubts else Safety.SAFE


def doubted(doubts: Sequence[str]) -> str | None:
    """The doubts as the words of an unsafe fix; None without one."""
    return "; ".join(dict.fromkeys(doubts)) or None


def skip(rule: str, module: Module, node: ast.AST, reason: str, detail: str) -> Skip:
    """A Skip at ``node``."""
    function = module.place(node).function
    start, end = module.span(node)
    return Skip(rule, BRANCH, start, end, reason, detail, function.qualname if function else None)


def cannot_name(rule: str, module: Module, node: ast.AST, symbol: str) -> Skip:
    """The Skip for a symbol that `spell` could not write."""
    return skip(rule, module, node, "name-taken", f"`{symbol}` means something else here, or this torch has none")
