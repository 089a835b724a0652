"""Edits from drawn bytes. Drawing four bytes for an edit is far cheaper than drawing four numbers."""

from __future__ import annotations

from symfix.codemods.model.edit import Edit


def edits_from(text: bytes, recipe: bytes, longest: int) -> list[Edit]:
    """Return one edit for each four bytes of ``recipe``. Each replaces at most ``longest`` bytes."""
    edits = []
    for at in range(0, len(recipe) - 3, 4):
        high, low, length, written = recipe[at : at + 4]
        start = (high * 256 + low) % (len(text) + 1)
        end = min(len(text), start + length % (longest + 1))
        edits.append(Edit(start, end, recipe[at : at + written % 5]))
    return edits
