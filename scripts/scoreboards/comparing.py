"""Comparison of one function in three versions: concrete, symbolic by people, and symbolic by the tool."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .tokens import Hunk, Token, applied, hunks, symbolic_hunks, tokens


class Likeness(Enum):
    """Similarity of the tool's result to people's."""

    IDENTICAL = "identical"
    """Result with exactly the tokens that people wrote."""
    PLUS = "identical plus"
    """Result with exactly the tokens that people wrote, and with fixes at other places."""
    DIFFERENT = "different"
    """Result that differs from people's change."""
    REFUSED = "refused"
    """Unchanged result where people made a change."""


@dataclass(frozen=True)
class Matched:
    """A hunk of people's, with the tool's hunks at its place."""

    hunk: Hunk
    likeness: Likeness
    ours: tuple[Hunk, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """Comparison of a function: people's symbolic hunks one by one, and the tool's hunks elsewhere."""

    old: tuple[Token, ...]
    likeness: Likeness
    matched: tuple[Matched, ...]
    extra: tuple[Hunk, ...]

    def count(self, likeness: Likeness) -> int:
        return sum(one.likeness is likeness for one in self.matched)


def compare(concrete: str, theirs: str, ours: str) -> Comparison | None:
    """Compare the tool's text with people's symbolic changes. Return None if people's change is not symbolic."""
    old, human, tool = tokens(concrete), tokens(theirs), tokens(ours)
    wanted = symbolic_hunks(old, human)
    if not wanted:
        return None
    written = hunks(old, tool)
    matched = tuple(_match(hunk, written) for hunk in wanted)
    extra = tuple(hunk for hunk in written if not any(hunk.overlaps(other) for other in wanted))
    if [token.text for token in tool] in (applied(old, wanted), [token.text for token in human]):
        likeness = Likeness.IDENTICAL
        matched = tuple(Matched(one.hunk, likeness, one.ours) for one in matched)
    elif all(one.likeness is Likeness.IDENTICAL for one in matched):
        likeness = Likeness.PLUS
    else:
        likeness = Likeness.DIFFERENT if written else Likeness.REFUSED
    return Comparison(tuple(old), likeness, matched, extra)


def _match(hunk: Hunk, written: list[Hunk]) -> Matched:
    ours = tuple(other for other in written if hunk.overlaps(other))
    if hunk in ours:
        return Matched(hunk, Likeness.IDENTICAL, ours)
    return Matched(hunk, Likeness.DIFFERENT if ours else Likeness.REFUSED, ours)
