"""Conversion of a promotion to a fix: the edits of the file's bytes for its values."""

from __future__ import annotations

from ...codemods.model.edit import Edit, apply
from ...codemods.model.rule import Fix, Safety
from ..analysis.graph.dataflow_facts import Rearranges, Writes
from ..analysis.propagation.promotions import Promotion
from ..syntax.tree import Tree
from .changes import changes

HEADERS = {b"c10::SymDimVector": "c10/util/DimVector.h"}
"""Headers of the types that the concrete type's own header does not declare."""


def fix(rule: str, mode: int, what: str, promotion: Promotion, tree: Tree, *, function: str = "") -> Fix:
    """Return the fix that applies a promotion. ``what`` describes the change of its seeds."""
    edits = emit(promotion, tree.content)
    words = changes(edits, tree)
    message = f"{what}, with {', '.join(promotion.through)}" if promotion.through else what
    needs = tuple(sorted({header for name, header in HEADERS.items() for edit in edits if name in edit.text}))
    safety = Safety.UNSAFE if words else Safety.SAFE
    function = function or promotion.seeds[0].function.name
    return Fix(rule, mode, safety, edits, message, function=function, default=words, needs=needs)


def emit(promotion: Promotion, content: bytes) -> tuple[Edit, ...]:
    """Return the edits of a promotion, in source order."""
    edits = {
        Edit(*(one.span or (one.node.start_byte, one.node.end_byte)), one.text.encode())
        for one in promotion.writings
        if isinstance(one, Writes)
    }
    rearranged = {one for one in promotion.writings if isinstance(one, Rearranges)}
    for one in sorted(rearranged, key=lambda inner_first: -inner_first.node.start_byte):
        edits = _rearranged(one, edits, content)
    return tuple(sorted(edits))


def _rearranged(anew: Rearranges, edits: set[Edit], content: bytes) -> set[Edit]:
    """Return the edits with one more, which replaces those inside a rearranged node."""
    text = b""
    for piece in anew.pieces:
        if isinstance(piece, str):
            text += piece.encode()
        else:
            start, end = piece.start_byte, piece.end_byte
            inside = [Edit(e.start - start, e.end - start, e.text) for e in edits if start <= e.start and e.end <= end]
            text += apply(content[start:end], inside)
    start, end = anew.node.start_byte, anew.node.end_byte
    outside = {edit for edit in edits if not start <= edit.start <= edit.end <= end}
    return outside | {Edit(start, end, text)}
