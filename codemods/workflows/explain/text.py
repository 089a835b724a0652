"""A report as at most eight lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from .report import ExplainedError

MOST_LINES = 8
_WIDEST = 220


def lines(report: ExplainedError) -> Iterator[str]:
    """Yield the lines, without line ends."""
    if report.kind == "not-sizes":
        yield _short(f"not-sizes: {report.exception}: {report.message}; {report.title}".replace(": ;", ";"))
        return
    yield f"{report.kind}: {report.title}"
    if report.place is not None:
        where = f"{report.place.file}:{report.place.line}"
        function = f" in {report.place.function}" if report.place.function else ""
        yield _short(f"  {where}{function}{f' (of {report.owner})' if report.owner else ''}")
        if report.place.text:
            yield _short(f"     {report.place.text}")
    if report.expression:
        known = ", ".join(f"{one.name} = {one.source}" for one in report.symbols)
        yield _short(f"  {_label(report.kind)}: {report.expression}{f', where {known}' if known else ''}")
    if report.inside:
        yield f"  asked for in {report.inside}"
    if report.mend:
        yield _short(f"  mend: {report.mend}")
    if report.command:
        yield f"  run: {report.command}"
    if report.more:
        yield f"  and {report.more} further error{'s' if report.more > 1 else ''} about sizes in this text"


def _label(kind: str) -> str:
    return {
        "narrows-range": "condition", "guard-failed": "condition", "recompilation": "because",
        "data-dependent-operator": "operator", "missing-fake-kernel": "operator", "concrete-sizes": "called",
        "symbolic-operand": "operation", "unsupported": "dynamo",
    }.get(kind, "undecided")  # fmt: skip


def _short(line: str) -> str:
    one = " ".join(line.splitlines())
    return one if len(one) <= _WIDEST else one[: _WIDEST - 1] + "…"
