"""Whole shapes compared: ``a.shape == b.shape``."""

from __future__ import annotations

import ast

from .certain import Several, Sure, of_whole_numbers
from .surely import Surely
from .values import Kind


def unfit_for_sym_eq(surely: Surely, node: ast.Compare) -> tuple[str, str] | None:
    """Why ``sym_eq`` would not say what ``==`` says here, as (reason, detail)."""
    sides = (node.left, node.comparators[0])
    held = [surely.of(side) for side in sides]
    for side, value in zip(sides, held, strict=True):
        number = surely.flow.kind(side) in (Kind.SIZE, Kind.STRIDE, Kind.RATIO, Kind.NUMBER)
        if number or isinstance(side, ast.Constant) or (isinstance(value, Sure) and value is not Sure.OPTIONAL):
            return "not-a-shape", "one side is not a sequence, and sym_eq takes two of a kind"
        if value is Sure.OPTIONAL:
            return "may-be-none", "one side may be None, which sym_eq refuses"
        if _holds_others(value) or _spells_others(surely, side):
            return "not-a-shape", "one side holds more than sizes, which sym_eq refuses"
    if {True, False} <= {value.listed for value in held if isinstance(value, Several)}:
        return "list-against-tuple", "a list never equals a tuple, but sym_eq compares only what is in them"
    if any(surely.flow.kind(side) is Kind.UNKNOWN for side in sides):
        return "not-a-shape", "one side may be no sequence, which sym_eq refuses"
    return None


def _holds_others(value: object) -> bool:
    """A place of it surely is no size: ``(x.shape, x.device)``."""
    if not isinstance(value, Several):
        return False
    places = value.places if value.places is not None else (value.element,)
    return any(_holds_others(one) or (isinstance(one, Sure) and one is not Sure.WHOLE) for one in places)


def _spells_others(surely: Surely, side: ast.expr) -> bool:
    """``(*x.shape, x.device)``."""
    places = side.elts if isinstance(side, (ast.Tuple, ast.List)) else ()
    return any(isinstance(held := surely.of(one), Sure) and held is not Sure.WHOLE for one in places)


def doubts_of_sym_eq(surely: Surely, node: ast.Compare) -> list[str]:
    """What must hold beyond what is known, so that ``sym_eq`` says what ``==`` says."""
    sides = (node.left, node.comparators[0])
    held = [surely.of(side) for side in sides]
    doubts = [
        f"`{ast.unparse(side)}` is taken for a sequence of sizes"
        for side, value in zip(sides, held, strict=True)
        if not of_whole_numbers(value)
    ]
    listed = {value.listed for value in held if isinstance(value, Several)}
    if not doubts and (len(listed) > 1 or None in listed):
        doubts.append("a list and a tuple of the same sizes count as equal")
    return doubts
