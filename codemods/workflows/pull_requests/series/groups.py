"""Groups of proposals: one rule or one family a pull request, all changes of a file in the same one, each small."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .hunks import Hunk, clash, hunks_between
from .proposal import FileChange, Proposal

MOST_FILES = 25
MOST_LINES = 400


@dataclass(frozen=True)
class ProposalGroup:
    """Proposals for one pull request. ``rule`` is their only rule, or None for a family of files with several rules."""

    rule: str | None
    proposals: tuple[Proposal, ...]


@dataclass(frozen=True)
class Grouping:
    """Groups in the order of the series, with messages about proposals without a group."""

    groups: tuple[ProposalGroup, ...]
    passed_over: tuple[str, ...] = ()


def group(proposals: Sequence[Proposal], most_files: int = MOST_FILES, most_lines: int = MOST_LINES) -> Grouping:
    """Group the proposals so that each group can be reviewed, merged and reverted independently.

    No two groups change the same line, so every order works. Groups that preserve all results on known sizes come
    first, then those that choose a default, each sorted by rule and path.
    """
    fitting, passed_over = _compatible(proposals)
    by_rule: dict[str, list[Proposal]] = {}
    families: list[list[Proposal]] = []
    for family in _families(fitting):
        rules = {rule for proposal in family for rule in proposal.rules}
        if len(rules) == 1 and not any(proposal.operators for proposal in family) and _spreads(family):
            by_rule.setdefault(rules.pop(), []).extend(family)
        else:
            families.append(family)
    groups = [
        ProposalGroup(rule, part) for rule, ones in by_rule.items() for part in _cut(ones, most_files, most_lines)
    ]
    for family in families:
        rules = {rule for proposal in family for rule in proposal.rules}
        rule = next(iter(rules)) if len(rules) == 1 else None
        groups += [ProposalGroup(rule, part) for part in _cut(family, most_files, most_lines)]
    return Grouping(tuple(sorted(groups, key=_order)), tuple(passed_over))


@lru_cache(maxsize=4096)
def hunks_of(file: FileChange) -> tuple[Hunk, ...]:
    """Return the hunks of a file, linked to its reasons."""
    return hunks_between(file.before or b"", file.after, [reason.spans for reason in file.reasons])


def _spreads(family: Sequence[Proposal]) -> bool:
    """Return whether no fix has mode 1, which converts an operator to symbolic sizes."""
    return all(reason.mode != 1 for proposal in family for file in proposal.files for reason in file.reasons)


def _compatible(proposals: Sequence[Proposal]) -> tuple[list[Proposal], list[str]]:
    """Return the proposals without conflicts, where the first wins, and messages about the others."""
    taken: dict[str, list[tuple[str, tuple[Hunk, ...]]]] = {}
    fitting, passed_over = [], []
    for proposal in proposals:
        hunks = {file.path: hunks_of(file) for file in proposal.files}
        clashes = [
            f"{proposal.name}: line {found.line} of {path} is also changed by {other}"
            for path, mine in hunks.items()
            for other, theirs in taken.get(path, ())
            if (found := clash(mine, theirs)) is not None
        ]
        if clashes:
            passed_over.append(clashes[0])
            continue
        fitting.append(proposal)
        for path, mine in hunks.items():
            taken.setdefault(path, []).append((proposal.name, mine))
    return fitting, passed_over


def _families(proposals: Sequence[Proposal]) -> Iterator[list[Proposal]]:
    """Yield the proposals with the same set of fixed files together, in path order."""
    families: dict[frozenset[str], list[Proposal]] = {}
    for proposal in proposals:
        families.setdefault(frozenset(proposal.fixed), []).append(proposal)
    for _, members in sorted(families.items(), key=lambda family: (sorted(family[0]), family[1][0].name)):
        yield sorted(members, key=lambda one: (one.fixed, one.name))


def _cut(proposals: Sequence[Proposal], most_files: int, most_lines: int) -> Iterator[tuple[Proposal, ...]]:
    """Cut the proposals into pieces within the limits. Those of a file, and if possible of a folder, stay together."""
    piece: list[Proposal] = []
    for block in _blocks(proposals):
        if piece and not _fits([*piece, *block], most_files, most_lines):
            yield tuple(piece)
            piece = []
        for proposal in block:
            if piece and not _fits([*piece, proposal], most_files, most_lines):
                yield tuple(piece)
                piece = []
            piece.append(proposal)
    if piece:
        yield tuple(piece)


def _blocks(proposals: Sequence[Proposal]) -> Iterator[list[Proposal]]:
    folders: dict[str, list[Proposal]] = {}
    for proposal in proposals:
        folders.setdefault(area(proposal.fixed[0] if proposal.fixed else proposal.name), []).append(proposal)
    yield from folders.values()


def area(path: str) -> str:
    """Return the area of a repository that contains a path: its first two folders."""
    folders = path.split("/")[:-1]
    return "/".join(folders[:2]) or path


def _fits(proposals: Sequence[Proposal], most_files: int, most_lines: int) -> bool:
    paths = {file.path for proposal in proposals for file in proposal.files}
    lines = sum(
        len(hunk.old) + len(hunk.new) for proposal in proposals for file in proposal.files for hunk in hunks_of(file)
    )
    return len(paths) <= most_files and lines <= most_lines


def _order(group: ProposalGroup) -> tuple[bool, int, str, str]:
    reasons = [reason for proposal in group.proposals for file in proposal.files for reason in file.reasons]
    stated = any(reason.safety != "safe" for reason in reasons)
    mode = min((reason.mode for reason in reasons), default=0)
    return stated, mode, group.rule or "", group.proposals[0].files[0].path
