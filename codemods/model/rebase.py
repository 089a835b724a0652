"""Mapping of positions and edits of a later round to the text before an earlier round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .edit import Edit, apply, conflict


@dataclass(frozen=True)
class _Place:
    """Position of an edit's text after the round."""

    written: Edit
    edit: Edit

    def meets(self, later: Edit) -> bool:
        # True at the edge of an insertion too, where the two would conflict in the coordinates of the older text.
        edge = self.edit.start == self.edit.end and later.start <= self.written.end and self.written.start <= later.end
        return edge or conflict(later, self.written)


@dataclass(frozen=True)
class Step:
    """Applied round: ``edits`` turned some text into ``after``."""

    edits: tuple[Edit, ...]
    after: bytes

    def origin(self, offset: int) -> int:
        """Return the offset before the round. Within replaced text, return the start of the replaced range."""
        shift = 0
        for place in self._places:
            if offset < place.written.start:
                break
            if offset < place.written.end:
                return place.edit.start
            shift = place.edit.end - place.written.end
        return offset + shift

    def rebase(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """Return ``edits`` of ``after`` in coordinates of the text before the round.

        An edit that touches text written by this round includes that text. It replaces this round's edits there, and
        conflicts with no other of them.
        """
        groups: list[tuple[list[Edit], list[_Place]]] = []
        for edit in sorted(edits):
            touched = [place for place in self._places if place.meets(edit)]
            if groups and touched and touched[0] in groups[-1][1]:
                groups[-1][0].append(edit)
                groups[-1][1].extend(place for place in touched if place not in groups[-1][1])
            else:
                groups.append(([edit], touched))
        return tuple(self._said_before(members, touched) for members, touched in groups)

    def _said_before(self, members: list[Edit], touched: list[_Place]) -> Edit:
        covered = [*members, *(place.written for place in touched)]
        start, end = min(edit.start for edit in covered), max(edit.end for edit in covered)
        text = apply(self.after[start:end], (Edit(e.start - start, e.end - start, e.text) for e in members))
        if not touched:
            return Edit(self.origin(start), self.origin(start) + end - start, text)
        first, last = touched[0], touched[-1]
        return Edit(first.edit.start - (first.written.start - start), last.edit.end + (end - last.written.end), text)

    @cached_property
    def _places(self) -> tuple[_Place, ...]:
        places = []
        shift = 0
        for edit in sorted(self.edits):
            start = edit.start + shift
            places.append(_Place(Edit(start, start + len(edit.text), edit.text), edit))
            shift += len(edit.text) - (edit.end - edit.start)
        return tuple(places)
