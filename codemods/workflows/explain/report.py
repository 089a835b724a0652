"""The explanation of one text, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..export.outcome import Place


@dataclass(frozen=True)
class Symbol:
    """A symbol of the undecided expression, and its source code."""

    name: str
    source: str


@dataclass(frozen=True)
class Report:
    """The first error about sizes in a text, or its first error of torch."""

    kind: str
    """A key of `KINDS`."""
    title: str
    exception: str
    """The name of the exception without its module; empty in a log."""
    message: str
    expression: str
    symbols: tuple[Symbol, ...]
    place: Place | None
    """The innermost line that is not torch's."""
    owner: str
    """The package of that line; empty for the user's own code."""
    inside: str
    """The line of torch that asked."""
    operator: str
    mend: str
    command: str
    """Empty where no command of symfix helps."""
    more: int
    """The number of further errors about sizes."""

    @property
    def about_sizes(self) -> bool:
        return self.kind not in ("unsupported", "not-sizes")


def to_json(report: Report) -> dict[str, Any]:
    """Return the report as plain values."""
    return {"version": 1, **asdict(report), "about_sizes": report.about_sizes}
