"""Construction of a rule's `Fix` and `Skip` values."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety, Skip
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..syntax.module import Place
from .change_types import Changes
from .edits import edited
from .qualified_names import unnamed

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
"""Failure mode of all Python findings: a branch on a SymInt."""


def fix(
    rule: str,
    place: Place,
    edits: Iterable[Edit],
    message: str,
    needs: Iterable[str] = (),
    doubts: Sequence[str] = (),
    safety: Safety | None = None,
) -> Fix:
    """Return a Fix at a place. It is safe if there are no doubts, unless ``safety`` is given."""
    said = "; ".join(dict.fromkeys(doubts))
    return Fix(
        rule,
        BRANCH,
        safety or (Safety.UNSAFE if doubts else Safety.SAFE),
        tuple(edits),
        " ".join(message.split()),
        place.function.qualname if place.function else None,
        " ".join(said.split()) or None,
        tuple(dict.fromkeys(needs)),
    )


def change(
    rule: str,
    place: Place,
    changes: Changes,
    message: str,
    needs: Iterable[str] = (),
    doubts: Sequence[str] = (),
    safety: Safety | None = None,
) -> Fix | Skip:
    """Return the Fix that makes ``changes`` to an expression and its parts, or the Skip if that is impossible."""
    (whole, *others) = {part for part, _ in changes}
    node = place.node if others else whole
    assert isinstance(node, ast.expr)
    try:
        edit = edited(place.module, node, changes)
    except CannotRewrite as unfit:
        return skip(rule, place, unfit.reason, unfit.detail)
    return fix(rule, place, [edit], message, needs, doubts, safety)


def skip(rule: str, place: Place, reason: str, detail: str) -> Skip:
    """Return a Skip at a place."""
    function = place.function.qualname if place.function else None
    return Skip(rule, BRANCH, *place.span, reason, detail, function)


def cannot_name(rule: str, place: Place, symbol: str, context: Context) -> Skip:
    """Return the Skip for a symbol that `spell` could not write."""
    return skip(rule, place, *unnamed(place.module, place.node, symbol, context))
