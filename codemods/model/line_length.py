"""Lines of a text that a change made too long."""

from __future__ import annotations

import difflib


def lines_grown_past(limit: int, before: bytes, after: bytes) -> list[int]:
    """Return the lines of ``after``, counted from 0, that a change made longer than ``limit`` characters."""
    old, new = before.splitlines(), after.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    matcher = difflib.SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    grown: list[int] = []
    for tag, start, end, new_start, new_end in matcher.get_opcodes():
        if tag == "equal":
            continue
        paired = end - start == new_end - new_start
        for number in range(new_start, new_end):
            was = old[head + start + number - new_start] if paired else b""
            if _width(new[head + number]) > limit >= _width(was):
                grown.append(head + number)
    return grown


def _width(line: bytes) -> int:
    return len(line.decode(errors="replace"))
