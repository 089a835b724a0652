"""The explanation of one text, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ..export.outcome import SourcePlace


@dataclass(frozen=True)
class Symbol:
    """A symbol of the undecided expression, and its source code."""

    name: str
    source: str


@dataclass(frozen=True)
class ExplainedError:
    """The first error about sizes in a text, or its first error of torch."""

    kind: str
    """Key of `KINDS`."""
    title: str
    exception: str
    """Name of the exception without its module. Empty in a log."""
    message: str
    expression: str
    symbols: tuple[Symbol, ...]
    place: SourcePlace | None
    """Innermost line outside of torch."""
    owner: str
    """Package of that line. Empty for the user's own code."""
    inside: str
    """Line of torch that needed the value."""
    operator: str
    mend: str
    command: str
    """Command of symfix that helps, or empty."""
    more: int
    """Number of further errors about sizes."""

    @property
    def about_sizes(self) -> bool:
        return self.kind not in ("unsupported", "not-sizes")


def to_json(report: ExplainedError) -> dict[str, Any]:
    """Return the report as plain values."""
    return {"version": 1, **asdict(report), "about_sizes": report.about_sizes}
