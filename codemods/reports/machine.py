"""JSON output, as one document or as one line per file. The format is pinned by tests/test_reports.py."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..model.outcome import Changed, Failed, Outcome, Refused, Unchanged
from ..model.rule import Fix, Skip
from ..model.source_file import SourceFile
from .text import unparsed

VERSION = 1


def document(outcomes: Sequence[Outcome], seen: int, *, tool: str, torch: str, written: bool) -> str:
    """Return the whole run as one JSON document. ``written``: the changes are on disk."""
    files = [_file(outcome, written) for outcome in outcomes]
    value = {"version": VERSION, "tool": tool, "torch": torch, "files": files, "summary": _summary(files, seen)}
    return json.dumps(value, indent=2) + "\n"


def lines(outcomes: Sequence[Outcome], seen: int, *, tool: str, torch: str, written: bool) -> Iterator[str]:
    """Yield a line for each file, then one with the summary."""
    files = []
    for outcome in outcomes:
        files.append(_file(outcome, written))
        yield json.dumps(files[-1]) + "\n"
    yield json.dumps({"version": VERSION, "tool": tool, "torch": torch, "summary": _summary(files, seen)}) + "\n"


def _summary(files: Sequence[dict[str, Any]], seen: int) -> dict[str, int]:
    return {
        "files": seen,
        "changed": sum(file["outcome"] == "changed" for file in files),
        "fixes": sum(len(file["fixes"]) for file in files),
        "skips": sum(len(file["skips"]) for file in files),
    }


def _file(outcome: Outcome, written: bool) -> dict[str, Any]:
    if isinstance(outcome, Refused):
        detail = f"{outcome.reason}: {outcome.detail}"
        return {"path": outcome.path.as_posix(), "outcome": "refused", "detail": detail, "fixes": [], "skips": []}
    if isinstance(outcome, Failed):
        return {
            "path": outcome.path.as_posix(),
            "outcome": "failed",
            "detail": outcome.detail,
            "fixes": [],
            "skips": [],
        }
    return _examined(outcome, written)


def _examined(outcome: Changed | Unchanged, written: bool) -> dict[str, Any]:
    applied = outcome.applied if isinstance(outcome, Changed) else ()
    fixes = [(fix, written) for fix in applied] + [(fix, False) for fix in outcome.offered]
    source = outcome.source
    return {
        "path": source.path.as_posix(),
        "outcome": "changed" if isinstance(outcome, Changed) else "unchanged",
        "detail": unparsed(outcome),
        "fixes": [_fix(fix, source, done) for fix, done in sorted(fixes, key=lambda pair: pair[0].start)],
        "skips": [_skip(skip, source) for skip in outcome.skips],
    }


def _fix(fix: Fix, source: SourceFile, applied: bool) -> dict[str, Any]:
    return {
        "rule": fix.rule,
        "mode": fix.mode,
        "safety": fix.safety.value,
        "applied": applied,
        "function": fix.function,
        "message": fix.message,
        "default": fix.default,
        "edits": [
            {"start": edit.start, "end": edit.end}
            | dict(zip(("line", "column"), source.line_column(edit.start), strict=True))
            | {"text": edit.text.decode("utf-8", "replace")}
            for edit in sorted(fix.edits)
        ],
    }


def _skip(skip: Skip, source: SourceFile) -> dict[str, Any]:
    line, column = source.line_column(skip.start)
    return {
        "rule": skip.rule,
        "mode": skip.mode,
        "function": skip.function,
        "line": line,
        "column": column,
        "reason": skip.reason,
        "detail": skip.detail,
    }
