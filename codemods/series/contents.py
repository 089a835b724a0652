"""What a request makes of its files on a base: as planned, or merged into what the files have become since."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .decisions import Decisions, Place
from .git import Entry, Repository
from .hunks import Mismatch, hunks_between, put
from .plan import Part, Request

Redo = Callable[[str, bytes, frozenset[Place]], bytes | None]
"""The text of a file that rules change, asked again without some of the fixes; None when nothing is left."""


@dataclass(frozen=True)
class Content:
    """One file of a request on its base; ``before`` None: the request makes it."""

    path: str
    mode: str
    role: str
    before: bytes | None
    after: bytes


@dataclass(frozen=True)
class Contents:
    """All files of a request that it changes on the base, what stands in its way, and what was left out."""

    files: tuple[Content, ...]
    conflicts: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Texts:
    """Where the contents come from: the commit that was planned for, and the one that is built on."""

    repository: Repository
    planned: Mapping[str, Entry]
    base: Mapping[str, Entry]
    scratch: Path
    redo: Redo

    def of(self, request: Request, decisions: Decisions) -> Contents:
        """What the request, without what was decided against, makes of the base."""
        parts: dict[str, list[Part]] = defaultdict(list)
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

    def _file(self, path: str, parts: list[Part], without: frozenset[Place]) -> Content | None:
        planned, now = self.planned.get(path), self.base.get(path)
        before = planned.content if planned else None
        names = {part.before for part in parts}
        if names != {planned.name if planned else None}:
            raise Mismatch("the plan is about another text; plan again")
        if without and before is not None:
            after = self.redo(path, before, without)
            if after is None:
                return None
        else:
            after = put(before or b"", [hunk for part in parts for hunk in part.hunks])
        role = "fix" if any(part.role == "fix" for part in parts) else parts[0].role
        if now is None:
            if before is not None:
                raise Mismatch("the file is gone")
            return Content(path, "100644", role, None, after)
        if before is None:
            if now.content == after:
                return None
            raise Mismatch("there is a file of this name by now")
        if now.name != (planned.name if planned else None):
            merged = self.repository.merged(before, now.content, after, self.scratch)
            if merged is None:
                raise Mismatch("the text has changed at the same lines; plan again")
            after = merged
        return Content(path, now.mode, role, now.content, after)


def _fixes(count: int) -> str:
    return "1 fix" if count == 1 else f"{count} fixes"


def union(contents: Iterable[Content], base: Mapping[str, Entry]) -> dict[str, Content]:
    """All files together; those that several requests touch, with the changes of all; raises Mismatch."""
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
