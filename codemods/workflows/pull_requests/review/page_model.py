"""Contents of the page for each pull request, as values, so that the template contains no logic."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ....verify.change import Check, Verification
from ..series import pr_text
from ..series.build_state import BuildState, Record, Standing
from ..series.git import CommittedFile
from ..series.hunks import Hunk, groups, put
from ..series.plan import ProposalPart, PullRequest, PullRequestPlan
from ..series.proposal import Reason, UnchangedPlace
from .diff import DiffBlock, blocks_of

NEAR = 30
"""Largest distance in lines at which an unfixed place is shown with a change."""


@dataclass(frozen=True)
class PageHunk:
    """One hunk with its reasons and the unit of decision that it belongs to."""

    unit: str
    reasons: tuple[Reason, ...]
    alone: bool
    """True if the unit consists of this hunk only."""


@dataclass(frozen=True)
class File:
    """One file of a request."""

    path: str
    role: str
    added: int
    removed: int
    blocks: tuple[DiffBlock, ...]
    changes: tuple[PageHunk, ...]
    near: tuple[UnchangedPlace, ...]
    far: int
    """Number of unfixed places elsewhere in the file."""


@dataclass(frozen=True)
class Card:
    """One request as the page shows it."""

    number: int
    request: PullRequest
    standing: Standing
    verdict: str
    found: str
    defaults: tuple[str, ...]
    modes: tuple[int, ...]
    files: tuple[File, ...]
    gained: tuple[Check, ...]
    others: tuple[Check, ...]
    commands: tuple[str, ...]

    @property
    def added(self) -> int:
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        return sum(file.removed for file in self.files)

    @property
    def units(self) -> int:
        return len({change.unit for file in self.files for change in file.changes})


@dataclass(frozen=True)
class Deck:
    """All cards, with the fixes of each unit of decision in the file that the page exports."""

    cards: tuple[Card, ...]
    units: Mapping[str, Sequence[Mapping[str, object]]]


def deck_of(
    plan: PullRequestPlan,
    record: Record,
    entries: Mapping[str, CommittedFile],
    command: str,
    planned: Mapping[str, CommittedFile] | None = None,
) -> Deck:
    """Build the cards of a plan. ``command`` repeats a proof.

    ``entries`` are the files of the base that was built on. ``planned`` are those of the base that was planned for, if
    it differs. A request is shown as it was built, or as planned if it was not built.
    """
    units: dict[str, list[Mapping[str, object]]] = defaultdict(list)
    cards = []
    for number, one in enumerate(plan.requests, 1):
        standing = record.of(one.id)
        request = standing.request or one
        texts = entries if standing.request or planned is None else planned
        # The diff of a completely rejected request is hidden.
        shown = standing.state is not BuildState.REJECTED
        files = tuple(_files(plan, request, texts, units)) if shown else ()
        verification = standing.verification
        reasons = [reason for part in request.parts for reason in part.reasons]
        checks = verification.checks if verification else ()
        cards.append(
            Card(
                number,
                request,
                standing,
                verification.verdict.value if verification else "not verified",
                pr_text.found(verification),
                tuple(dict.fromkeys(reason.default for reason in reasons if reason.default)),
                tuple(sorted({reason.mode for reason in reasons})),
                files,
                tuple(check for check in checks if check.gained),
                tuple(check for check in checks if not check.gained),
                tuple(_commands(request, standing, verification, command)),
            )
        )
    return Deck(tuple(cards), units)


def _files(
    plan: PullRequestPlan,
    request: PullRequest,
    entries: Mapping[str, CommittedFile],
    units: dict[str, list[Mapping[str, object]]],
) -> Iterator[File]:
    parts: dict[str, list[ProposalPart]] = defaultdict(list)
    for part in request.parts:
        parts[part.path].append(part)
    for path, ones in sorted(parts.items(), key=lambda item: (item[1][0].role != "fix", item[0])):
        before = entries[path].content if path in entries else b""
        owned = sorted(((hunk, part) for part in ones for hunk in part.hunks), key=lambda pair: pair[0])
        hunks = [hunk for hunk, _ in owned]
        after = put(before, hunks)
        changes = tuple(_changes(plan, request, path, ones, owned, units))
        left = [one for part in ones for one in part.left]
        near = tuple(one for one in left if any(hunk.line - NEAR <= one.line <= hunk.end + NEAR for hunk in hunks))
        yield File(
            path,
            ones[0].role,
            sum(len(hunk.new) for hunk in hunks),
            sum(len(hunk.old) for hunk in hunks),
            blocks_of(path, before, after, hunks),
            changes,
            near,
            len(left) - len(near),
        )


def _changes(
    plan: PullRequestPlan,
    request: PullRequest,
    path: str,
    parts: Sequence[ProposalPart],
    owned: Sequence[tuple[Hunk, ProposalPart]],
    units: dict[str, list[Mapping[str, object]]],
) -> Iterator[PageHunk]:
    """Yield a change for each hunk. Hunks that share a fix are one unit, and so is all of a proven repair."""
    whole = plan.origin != "rules"
    numbers = {id(part): groups(part.hunks) for part in parts}
    names = []
    for hunk, part in owned:
        group = numbers[id(part)][part.hunks.index(hunk)]
        if whole or part.role != "fix":
            names.append(f"{request.id}/{part.proposal}")
        elif hunk.why:
            names.append(f"{request.id}/{path}/{group}")
        else:
            # A hunk without a reason, such as an import, belongs to the fixes that need it.
            names.append(f"{request.id}/{path}/with")
    for (hunk, part), name in zip(owned, names, strict=True):
        reasons = [part.reasons[number] for number in hunk.why]
        _note(units[name], request, path, reasons)
        yield PageHunk(name, tuple(reasons), names.count(name) == 1 and not whole)


def _note(items: list[Mapping[str, object]], request: PullRequest, path: str, reasons: Sequence[Reason]) -> None:
    item = next((item for item in items if item["path"] == path), None)
    if item is None:
        items.append(item := {"request": request.id, "path": path, "fixes": []})
    fixes = item["fixes"]
    assert isinstance(fixes, list)
    fixes += [fix for reason in reasons if (fix := {"rule": reason.rule, "start": reason.start}) not in fixes]


def _commands(
    request: PullRequest, standing: Standing, verification: Verification | None, command: str
) -> Iterator[str]:
    if standing.commit:
        yield f"git switch --detach {request.branch}"
    names = "".join(f" --op {name}" for name in request.opinfos)
    if verification is not None:
        yield f"{command}{names}"
        yield from verification.commands
