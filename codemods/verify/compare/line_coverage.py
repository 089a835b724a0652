"""Changed lines of a file, and coverage of those in C++. A proof does not cover unrun lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from pathlib import Path

from ...harness.process_limits import Limits, run
from ...harness.temp_folder import new_name
from ..change import Change

_LIMITS = Limits(wall=120)


def unrun_lines(change: Change, counted: Path, gcov: Sequence[str], scratch: Path) -> tuple[int, ...] | None:
    """Return changed lines with code that no process ran, by the counts of the object, or None without counts."""
    if not counted.with_suffix(".gcda").is_file():
        return None
    place = scratch / new_name("gcov")
    place.mkdir()
    ended = run([*gcov, str(counted)], scratch=scratch, limits=_LIMITS, cwd=place)
    if ended.code != 0:
        return None
    counts: dict[int, int] = {}
    for file, line, count in (*_told_by_gcc(place), *_told_by_clang(place)):
        if Path(file).name == change.path.name:
            counts[line] = counts.get(line, 0) + count
    return tuple(line for line in changed_lines(change) if counts.get(line) == 0 or _beside_unrun(change, line, counts))


def _told_by_gcc(place: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the file, line and count of each entry in gcov's JSON reports."""
    for report in place.glob("*.gcov.json.gz"):
        for file in json.loads(gzip.decompress(report.read_bytes()))["files"]:
            yield from ((file["file"], line["line_number"], line["count"]) for line in file["lines"])


def _told_by_clang(place: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the same from llvm-cov, which writes the text format that gcov had up to gcc 8."""
    for report in place.glob("*.gcov"):
        file = ""
        for row in report.read_text(encoding="utf-8", errors="replace").splitlines():
            kind, _, rest = row.partition(":")
            if kind == "file":
                file = rest
            elif kind == "lcount":
                line, count = rest.split(",")[:2]
                yield file, int(line), int(count)


def changed_lines(change: Change) -> tuple[int, ...]:
    """Return the lines of the text after, counted from 1, that are new or follow removed code."""
    found = []
    for tag, first, last, start, end in _operations(change):
        if tag == "delete" and any(_is_code(line) for line in change.before.splitlines()[first:last]):
            found.append(start + 1)
        elif tag != "equal":
            found += range(start + 1, end + 1)
    return tuple(found)


def origins(change: Change, lines: Collection[int]) -> frozenset[int]:
    """Return the lines of the text before that correspond to these lines of the text after, counted from 1."""
    found: set[int] = set()
    for tag, first, last, start, end in _operations(change):
        if tag == "replace" and last - first == end - start:
            found.update(line - start + first for line in lines if start < line <= end)
        elif tag != "equal" and any(start < line <= max(end, start + 1) for line in lines):
            # New lines correspond to the two lines around them.
            found.update(range(first + 1, last + 1) if first < last else (max(first, 1), first + 1))
    return frozenset(found)


def follows_lost(change: Change, line: int) -> bool:
    """Return whether lines were removed before ``line`` of the text after."""
    return any(tag == "delete" and start + 1 == line for tag, _, _, start, _ in _operations(change))


def _beside_unrun(change: Change, line: int, counts: dict[int, int]) -> bool:
    """Return whether lines were removed before ``line`` from unrun code, by the counts of the lines around it."""
    if not follows_lost(change, line):
        return False
    above = max((number for number in counts if number < line), default=None)
    below = min((number for number in counts if number >= line), default=None)
    return any(counts[number] == 0 for number in (above, below) if number is not None)


def _is_code(line: bytes) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith((b"//", b"#include", b"{", b"}"))


@lru_cache(maxsize=16)
def _operations(change: Change) -> Sequence[tuple[str, int, int, int, int]]:
    """Return the opcodes of difflib, by lines, without the lines that both texts begin and end with."""
    before, after = change.before.splitlines(), change.after.splitlines()
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    matcher = SequenceMatcher(None, before[head : len(before) - tail], after[head : len(after) - tail], autojunk=False)
    found = matcher.get_opcodes()
    return [(tag, head + first, head + last, head + start, head + end) for tag, first, last, start, end in found]


def _alike(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Return the number of equal lines at the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((number for number, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))
