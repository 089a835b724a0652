"""The known word that a misspelt one may mean."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """``; do you mean 'this'?``, to go behind what is said of a word that nobody knows; empty where none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(known), n=1)
    return f"; do you mean {near[0]!r}?" if near else ""
