"""Messages for lintrunner: one JSON object per line, and at most one whole-file replacement per file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from ..model.outcome import Changed, Failed, Outcome, Refused
from ..model.rule import Fix
from ..model.source_file import SourceFile

CODE = "SYMFIX"


def messages(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield a line for each finding that has a fix, and one with the new text of each changed file.

    Skips are omitted, since lintrunner fails on advice too and a skip needs no action. Refused files are omitted too,
    unless they cannot be read at all.
    """
    for outcome in outcomes:
        if isinstance(outcome, Failed):
            yield failure(outcome.detail, outcome.path.as_posix())
        elif isinstance(outcome, Refused):
            if outcome.reason in ("not-found", "unreadable"):
                yield failure(outcome.detail, outcome.path.as_posix())
        else:
            applied = outcome.applied if isinstance(outcome, Changed) else ()
            for fix in sorted((*applied, *outcome.offered), key=lambda fix: (fix.start, fix.rule)):
                yield _finding(outcome.source, fix, applied=fix in applied)
            if isinstance(outcome, Changed):
                yield _replacement(outcome)


def failure(description: str, path: str | None = None) -> str:
    """Return a line with the reason why there is no result. Without a path it concerns the whole run."""
    return _line(path, "error", "symfix failed", description)


def _finding(source: SourceFile, fix: Fix, *, applied: bool) -> str:
    said = f"{fix.message} ({fix.safety.value})"
    if fix.default:
        said += f"\nWhat changes: {fix.default}"
    return _line(
        source.path.as_posix(), "warning" if applied else "advice", fix.rule, said, source.line_column(fix.start)
    )


def _replacement(outcome: Changed) -> str:
    names = ", ".join(sorted({fix.rule for fix in outcome.applied}))
    return _line(
        outcome.source.path.as_posix(), "warning", "symfix fix",
        f"{names}: `lintrunner -a` writes this",
        original=outcome.source.content.decode("utf-8"), replacement=outcome.after.decode("utf-8"),
    )  # fmt: skip


def _line(
    path: str | None,
    severity: str,
    name: str,
    description: str,
    place: tuple[int | None, int | None] = (None, None),
    original: str | None = None,
    replacement: str | None = None,
) -> str:
    line, char = place
    message = {
        "path": path, "line": line, "char": char, "code": CODE, "severity": severity, "name": name,
        "original": original, "replacement": replacement, "description": description,
    }  # fmt: skip
    return json.dumps(message) + "\n"
