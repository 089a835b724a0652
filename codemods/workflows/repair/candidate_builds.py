"""Selection of the picked candidates that can be tried together because their files compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .candidate_queue import Picks
from .candidates import Candidate
from .edited_file import EditedFile
from .trial_runner import TrialRunner

Drafts = Mapping[Path, EditedFile]


@dataclass(frozen=True)
class Unbuilt:
    """A candidate that does not compile, the operators that it was picked for, and the compiler's message."""

    candidate: Candidate
    operators: tuple[str, ...]
    reason: str


def with_picked(drafts: Drafts, picked: Picks) -> dict[Path, EditedFile]:
    """Return the drafts with the candidates applied."""
    taken = dict(drafts)
    for path in files(picked):
        fixes = [fix for candidate, _ in picked if candidate.site.path == path for fix in candidate.fixes]
        taken[path] = taken[path].take(fixes)
    return taken


def files(picked: Picks) -> set[Path]:
    """Return the files that the candidates change."""
    return {candidate.site.path for candidate, _ in picked}


def builds(bench: TrialRunner, drafts: Drafts, picked: Picks) -> bool:
    """Return whether all of the files compile with the candidates applied."""
    taken = with_picked(drafts, picked)
    return not any(bench.builds(path, taken[path]) for path in files(picked))


def that_build(bench: TrialRunner, drafts: Drafts, picked: Picks) -> tuple[Picks, list[Unbuilt]]:
    """Return the candidates that compile together, and the others, identified by the line in the compiler's message."""
    left, unbuilt = list(picked), []
    taken = with_picked(drafts, picked)
    bench.start({path: taken[path] for path in files(picked)})
    for path in sorted(path for path in files(picked) if path.suffix != ".py"):
        while here := [pick for pick in left if pick[0].site.path == path]:
            draft = with_picked(drafts, here)[path]
            failure = bench.builds(path, draft)
            if failure is None:
                break
            at = draft.origin(draft.line_start(failure.line)) if failure.line else 0
            culprit = min(here, key=partial(_distance, drafts[path], at))
            unbuilt.append(Unbuilt(*culprit, failure.reason))
            left.remove(culprit)
    return left, unbuilt


def _distance(draft: EditedFile, at: int, pick: tuple[Candidate, tuple[str, ...]]) -> int:
    """Return the distance from a candidate's first edit, in draft coordinates, to a byte of the original."""
    return abs(draft.origin(min(fix.start for fix in pick[0].fixes)) - at)
