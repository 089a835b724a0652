"""File contents of a request on a base: as planned, or merged with later changes of the files."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from .decisions import Decisions, Place
from .git import CommittedFile, Repository
from .hunks import Mismatch, hunks_between, line_starts, moved_lines, put
from .plan import ProposalPart, PullRequest
from .proposal import FileChange

Redo = Callable[[str, bytes, frozenset[Place]], FileChange | None]
"""Function that runs the rules on a file again without some of the fixes. It returns None if no change remains."""


@dataclass(frozen=True)
class Content:
    """One file of a request on its base. ``before`` is None for a new file.

    ``parts`` are the changes of ``before`` with their reasons.
    """

    path: str
    mode: str
    role: str
    before: bytes | None
    after: bytes
    parts: tuple[ProposalPart, ...] = ()


@dataclass(frozen=True)
class Contents:
    """Files of a request that differ from the base, with its conflicts and the dropped parts."""

    files: tuple[Content, ...]
    conflicts: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Texts:
    """Builder of contents from two commits: the one that was planned for, and the one that is built on."""

    repository: Repository
    planned: Mapping[str, CommittedFile]
    base: Mapping[str, CommittedFile]
    scratch: Path
    redo: Redo

    def of(self, request: PullRequest, decisions: Decisions) -> Contents:
        """Return the contents of the request on the base, without rejected parts and fixes."""
        parts: dict[str, list[ProposalPart]] = defaultdict(list)
        dropped = []
        for part in request.parts:
            if decisions.drops(request, part):
                dropped.append(f"{part.path}: a reviewer wants none of it")
            else:
                parts[part.path].append(part)
        files, conflicts = [], []
        for path, ones in sorted(parts.items()):
            left_out = {part.path: decisions.left_out(request, part) for part in ones}
            dropped += [
                f"{path}: {_fixes(len(places))} that a reviewer does not want" for places in left_out.values() if places
            ]
            try:
                content = self._file(path, ones, left_out.get(path, frozenset()))
            except Mismatch as error:
                conflicts.append(f"{path}: {error}")
                continue
            if content is not None and content.before != content.after:
                files.append(content)
        return Contents(tuple(files), tuple(conflicts), tuple(dropped))

    def _file(self, path: str, parts: list[ProposalPart], without: frozenset[Place]) -> Content | None:
        planned, now = self.planned.get(path), self.base.get(path)
        before = planned.content if planned else None
        names = {part.before for part in parts}
        if names != {planned.name if planned else None}:
            raise Mismatch("the plan is about another text; plan again")
        if without and before is not None:
            change = self.redo(path, before, without)
            if change is None:
                return None
            after = change.after
            hunks = hunks_between(before, after, [reason.spans for reason in change.reasons])
            parts = [replace(parts[0], hunks=hunks, reasons=change.reasons, left=change.left)]
        else:
            after = put(before or b"", [hunk for part in parts for hunk in part.hunks])
        role = "fix" if any(part.role == "fix" for part in parts) else parts[0].role
        if now is None:
            if before is not None:
                raise Mismatch("the file is gone")
            return Content(path, "100644", role, None, after, tuple(parts))
        if before is None:
            if now.content == after:
                return None
            raise Mismatch("there is a file of this name by now")
        if now.name != (planned.name if planned else None):
            merged = self.repository.merged(before, now.content, after, self.scratch)
            if merged is None:
                raise Mismatch("the text has changed at the same lines; plan again")
            parts = [moved for part in parts if (moved := self._moved(part, before, now.content)) is not None]
            after = merged
        return Content(path, now.mode, role, now.content, after, tuple(parts))

    def _moved(self, part: ProposalPart, before: bytes, now: bytes) -> ProposalPart | None:
        """Return the part rebased onto ``now``, or None if ``now`` contains its changes already or conflicts."""
        after = self.repository.merged(before, now, put(before, part.hunks), self.scratch)
        if after is None or after == now:
            return None
        lines = moved_lines(before, now)
        starts = line_starts(now)
        old_starts = line_starts(before)
        reasons = []
        for reason in part.reasons:
            spans = [(bisect_right(old_starts, start), bisect_right(old_starts, end)) for start, end in reason.spans]
            there = [(lines[first], lines[last]) for first, last in spans if first in lines and last in lines]
            if there:
                # A fix is identified by its start in the text that was planned for.
                spans_now = tuple((starts[first - 1], starts[last] - 1) for first, last in there)
                reasons.append(replace(reason, line=there[0][0], spans=spans_now))
        left = tuple(replace(one, line=lines[one.line]) for one in part.left if one.line in lines)
        hunks = hunks_between(now, after, [reason.spans for reason in reasons])
        used = {number for hunk in hunks for number in hunk.why}
        kept = [reason for number, reason in enumerate(reasons) if number in used]
        hunks = hunks_between(now, after, [reason.spans for reason in kept])
        return replace(part, hunks=hunks, reasons=tuple(kept), left=left)


def _fixes(count: int) -> str:
    return "1 fix" if count == 1 else f"{count} fixes"


def union(contents: Iterable[Content], base: Mapping[str, CommittedFile]) -> dict[str, Content]:
    """Return the files of all requests by path, merging changes of the same file. Raises Mismatch on a conflict."""
    by_path: dict[str, list[Content]] = defaultdict(list)
    for content in contents:
        by_path[content.path].append(content)
    found = {}
    for path, ones in by_path.items():
        before = base[path].content if path in base else b""
        hunks = [hunk for one in ones for hunk in hunks_between(before, one.after)]
        after = ones[0].after if len(ones) == 1 else put(before, hunks)
        role = "fix" if any(one.role == "fix" for one in ones) else ones[0].role
        found[path] = Content(path, ones[0].mode, role, ones[0].before, after)
    return found
