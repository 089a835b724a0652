"""Comma-separated lists whose elements may contain bracketed commas."""

from __future__ import annotations


def listed(text: str) -> list[str]:
    """Return the parts of a text between the commas outside of brackets."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "<([{") - (letter in ">)]}")
        if letter == "," and depth == 0:
            found.append(text[start:at])
            start = at + 1
    return [*found, text[start:]]
