"""Suggestion of a known word for a misspelled one."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``; do you mean 'this'?`` as the end of an unknown-name message, or '' if no known word is close."""
    from difflib import get_close_matches

    near = get_close_matches(word, sorted(known), n=1)
    return f"; do you mean {near[0]!r}?" if near else ""
