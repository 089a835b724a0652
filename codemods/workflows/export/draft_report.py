"""The report of ``torch.export.draft_export``, stored as JSON, since unpickling foreign files is unsafe."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...harness.temp_folder import new_name
from ...harness.torch_variant import Harness, Variant
from .outcome import SourcePlace

DATA_DEPENDENT = "DATA_DEPENDENT_ERROR"
"""Kind of a failure at a condition that data decide."""
_INSTALLED = Variant("installed")
_MEANING = {
    DATA_DEPENDENT: "undecided",
    "GUARD_ADDED": "the range narrows",
    "MISSING_FAKE_KERNEL": "no fake kernel",
    "MISMATCHED_FAKE_KERNEL": "the fake kernel gives another result",
}


class BadReport(Exception):
    """Error for an unusable report. ``str()`` is the one line for the user."""


@dataclass(frozen=True)
class DraftFailure:
    """One failure of a report. ``places`` are the lines that led to it, innermost first."""

    kind: str
    condition: str
    operator: str
    result: str
    """Result of the condition in the one run of the report. It is never assumed for other inputs."""
    places: tuple[SourcePlace, ...]

    def __str__(self) -> str:
        what = self.condition or self.operator
        words = f"{_MEANING.get(self.kind, self.kind)}: {what}" if what else _MEANING.get(self.kind, self.kind)
        return f"{words} at {self.places[0]}" if self.places else words


@dataclass(frozen=True)
class DraftReport:
    """A report, with its torch, its target and the target's folder (both "" if unknown)."""

    torch: str
    target: str
    folder: str
    failures: tuple[DraftFailure, ...]


def make(target: str, folder: Path, laboratory: Harness, variant: Variant = _INSTALLED) -> DraftReport:
    """Run ``draft_export`` on the target in a child, with the changes of ``variant``.

    Raises BadReport with the reason of a failure.
    """
    report = laboratory.scratch / new_name("draft")
    request = {"target": target, "folder": str(folder)}
    ended, answer = laboratory.ask("draft_export", variant, request, report)
    if "failures" not in answer:
        raise BadReport(answer.get("error") or ended.died or (ended.stderr.strip().splitlines() or ["no answer"])[-1])
    return _read({**answer, "target": target, "folder": str(folder)})


def write(report: DraftReport, path: Path) -> None:
    """Write the report as JSON."""
    path.write_text(json.dumps({"version": 1, **asdict(report)}, indent=1) + "\n")


def load(path: Path) -> DraftReport:
    """Read a file by `write`, or one that a user made with the ``failures`` of `drafting`. Raises BadReport."""
    content = path.read_bytes()
    try:
        found = json.loads(content)
    except ValueError:
        raise BadReport(
            f"{path} is no JSON. A pickle is not read; `symfix export --report FILE TARGET` writes the report as JSON, "
            "and docs/use/export.md says how to convert one"
        ) from None
    if not isinstance(found, dict) or found.get("version") != 1 or not isinstance(found.get("failures"), list):
        raise BadReport(f"{path} is no report that symfix wrote: version 1 with a list of failures is expected")
    try:
        return _read(found)
    except (KeyError, TypeError, ValueError) as error:
        raise BadReport(f"{path}: a failure of the report is incomplete: {error}") from None


def _read(found: dict[str, Any]) -> DraftReport:
    failures = tuple(
        DraftFailure(
            str(one["kind"]),
            str(one.get("condition", "")),
            str(one.get("operator", "")),
            str(one.get("result", "")),
            tuple(
                SourcePlace(str(at["file"]), int(at["line"]), str(at["function"]), str(at.get("text", "")))
                for at in one.get("places", ())
            ),
        )
        for one in found["failures"]
    )
    return DraftReport(
        str(found.get("torch", "")), str(found.get("target", "")), str(found.get("folder", "")), failures
    )
