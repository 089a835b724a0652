"""Which of the changed lines of a C++ file nothing ran: a proof says nothing about these."""

from __future__ import annotations

import gzip
import json
from difflib import SequenceMatcher
from pathlib import Path

from .change import Change
from .isolation import Limits, run
from .scratch import new_name

_LIMITS = Limits(wall=120)


def unrun_lines(change: Change, counted: Path, gcov: Path, scratch: Path) -> tuple[int, ...] | None:
    """Changed lines with code that no process ran, by the counts beside the object; None when there are no counts."""
    if not counted.with_suffix(".gcda").is_file():
        return None
    place = scratch / new_name("gcov")
    place.mkdir()
    ended = run([str(gcov), "--json-format", str(counted)], scratch=scratch, limits=_LIMITS, cwd=place)
    if ended.code != 0:
        return None
    counts: dict[int, int] = {}
    for report in place.glob("*.gcov.json.gz"):
        for file in json.loads(gzip.decompress(report.read_bytes()))["files"]:
            if Path(file["file"]).name == change.path.name:
                for line in file["lines"]:
                    counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
    return tuple(line for line in changed_lines(change) if counts.get(line) == 0)


def changed_lines(change: Change) -> tuple[int, ...]:
    """The lines of the text after, counted from 1, that are not in the text before."""
    matcher = SequenceMatcher(None, change.before.splitlines(), change.after.splitlines(), autojunk=False)
    return tuple(
        line + 1 for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal" for line in range(start, end)
    )
