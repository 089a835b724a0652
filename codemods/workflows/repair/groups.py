"""Groups of fixes: those of one operator's chain, those with overlapping edits, and those that share a fix."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...model.edit import conflict
from ...model.rule import Fix
from .candidate_queue import Key
from .candidates import Candidate
from .edited_file import EditedFile
from .trials import Trial


@dataclass(frozen=True, eq=False)
class AcceptedFix:
    """A candidate that helped. Its ``fixes`` are in original coordinates."""

    candidate: Candidate
    fixes: tuple[Fix, ...]
    before: Mapping[str, Trial] = field(default_factory=dict)
    """Trial without the fix, for each operator that the fix helped."""
    closed: Collection[Key] = frozenset()
    """Candidates that were closed when the fix was accepted, its own among them."""
    tried: int = 0
    """Number of attempts until then."""

    @property
    def path(self) -> Path:
        return self.candidate.site.path


@dataclass(frozen=True)
class FixGroup:
    """Fixes that are accepted or rejected together, with the operators that they fix."""

    members: tuple[AcceptedFix, ...]
    operators: tuple[str, ...]


def groups(chains: Mapping[str, Sequence[AcceptedFix]], passing: Iterable[str]) -> list[FixGroup]:
    """Return the groups of fixes that passing operators need, most operators first. Other fixes are dropped."""
    needed = {name: list(chains[name]) for name in sorted(passing) if chains.get(name)}
    order: list[AcceptedFix] = []
    for chain in needed.values():
        order += [member for member in chain if member not in order]
    leader = {id(member): id(member) for member in order}

    def find(member: int) -> int:
        while leader[member] != member:
            member = leader[member]
        return member

    for chain in needed.values():
        for member in chain[1:]:
            leader[find(id(member))] = find(id(chain[0]))
    for number, one in enumerate(order):
        for other in order[:number]:
            if one.path == other.path and _overlap(one, other):
                leader[find(id(one))] = find(id(other))
    members: dict[int, list[AcceptedFix]] = defaultdict(list)
    for member in order:
        members[find(id(member))].append(member)
    operators: dict[int, list[str]] = defaultdict(list)
    for name, chain in needed.items():
        operators[find(id(chain[0]))].append(name)
    found = [FixGroup(tuple(members[key]), tuple(operators[key])) for key in members]
    return sorted(found, key=lambda group: (-len(group.operators), group.operators))


def by_changes(chains: Mapping[str, Sequence[AcceptedFix]], passing: Iterable[str]) -> list[FixGroup]:
    """Group the operators that need exactly the same changes."""
    shared: dict[frozenset[int], list[str]] = {}
    for name in sorted(passing):
        if chains.get(name):
            shared.setdefault(frozenset(id(member) for member in chains[name]), []).append(name)
    return [FixGroup(tuple(chains[names[0]]), tuple(names)) for names in shared.values()]


def only(drafts: Mapping[Path, EditedFile], chosen: Sequence[FixGroup]) -> dict[Path, EditedFile]:
    """Return the drafts with only the fixes of these groups."""
    fixes = [fix for group in chosen for member in group.members for fix in member.fixes]
    return {path: draft.only(fixes) for path, draft in drafts.items()}


def _overlap(one: AcceptedFix, other: AcceptedFix) -> bool:
    edits = [edit for fix in other.fixes for edit in fix.edits]
    return any(conflict(edit, theirs) for fix in one.fixes for edit in fix.edits for theirs in edits)
