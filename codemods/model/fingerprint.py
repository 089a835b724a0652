"""Stable identifiers of findings, which survive moved and reformatted lines around them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from .rule import Fix, Skip
from .source_file import SourceFile

NAME = "symfix/v1"


def fingerprints(source: SourceFile, answers: Sequence[Fix | Skip]) -> list[str]:
    """Return a fingerprint for each answer of one file, in their order.

    It is computed from the rule, the function, the reason of a skip, and the line's text without whitespace. The file's
    path and the neighbouring lines do not count. Equal answers on equal lines are numbered from the top.
    """
    names = [""] * len(answers)
    seen: Counter[tuple[str, ...]] = Counter()
    for number in sorted(range(len(answers)), key=lambda number: answers[number].start):
        answer = answers[number]
        reason = answer.reason if isinstance(answer, Skip) else ""
        parts = (answer.rule, answer.function or "", reason, _line(source, answer.start))
        seen[parts] += 1
        text = "\0".join((*parts, str(seen[parts])))
        names[number] = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return names


def _line(source: SourceFile, offset: int) -> str:
    start = source.content.rfind(b"\n", 0, offset) + 1
    end = source.content.find(b"\n", offset)
    line = source.content[start:] if end < 0 else source.content[start:end]
    return "".join(line.decode("utf-8", "replace").split())
