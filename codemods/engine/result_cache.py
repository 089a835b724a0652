"""Stored outcomes of earlier runs, reused for the same request on the same bytes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ..model.edit import Edit
from ..model.outcome import Changed, Failed, Outcome, Refused, Unchanged
from ..model.rule import Fix, Safety, Skip
from ..model.source_file import SourceFile
from ..system import cache_folder
from ..system.file_reader import contents
from .cache_dependencies import package_mentions, settings_digest
from .file_discovery import DiscoveredFile
from .project_facts import project_digest
from .registry import WingCard

KEPT_INDEXES = 24
_SETTLED_SECONDS = 2


class _Entry(NamedTuple):
    """State of one file when it was examined.

    ``stat`` is None if the file was too recent for its stat to be trusted.
    """

    stat: list[int] | None
    digest: str
    settings: str
    package: bool
    """True if there was something to report and a package word of the wing occurs in the file's package."""
    project: str
    """Digest of the facts of the file's project."""
    outcome: str | None
    """Packed outcome, or None if there was nothing to report."""
    named: bool
    """True if the caller named the file. More may be reported for such a file than for one found in a folder."""


@dataclass(frozen=True)
class CachedResult:
    """Stored result for a file. ``outcome`` is None if there was nothing to report."""

    outcome: Outcome | None


@dataclass
class Results:
    """Stored outcomes of all runs with the same request (``key``), for any files."""

    key: str
    _rows: dict[str, Any] = field(default_factory=dict)
    """Values of each stored entry, by the file's absolute path."""
    _grown: bool = False
    _around: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """Digests of the settings and of the project, by folder and wing."""

    @classmethod
    def load(cls, key: str) -> Results:
        rows: dict[str, Any] = {}
        with contextlib.suppress(ValueError):
            rows = json.loads(cache_folder.load(cache_folder.folder("results") / key) or b"{}")
        return cls(key, rows)

    def _entry(self, located: str) -> _Entry | None:
        row = self._rows.get(located)
        return None if row is None else _Entry._make(row)

    def save(self) -> None:
        """Write the index if this run added to it, and remove the oldest indexes."""
        if not self._grown:
            return
        folder = cache_folder.folder("results")
        cache_folder.store(folder / self.key, json.dumps(self._rows, separators=(",", ":")).encode())
        for index in sorted(folder.glob("[!.]*"), key=cache_folder.age)[:-KEPT_INDEXES]:
            index.unlink(missing_ok=True)

    def by_stat(self, target: DiscoveredFile, wing: WingCard) -> CachedResult | None:
        """Return the stored result if the file's stat is unchanged.

        The file is read only if there is something to report.
        """
        located = target.located
        entry = self._entry(located)
        if entry is None or entry.stat is None or entry.named:
            return None
        around = located.rpartition(os.sep)[0], wing.package
        if around not in self._around:
            self._around[around] = _around(Path(located), wing)
        if self._around[around] != (entry.settings, entry.project):
            return None
        try:
            if _stat(located) != entry.stat:
                return None
            if entry.outcome is None:
                return CachedResult(None)
            if entry.package != package_mentions(Path(located), wing):
                return None
            return CachedResult(_unpack(entry.outcome, target.path, contents(target.path)))
        except OSError:
            return None

    def by_content(self, path: Path, content: bytes, wing: WingCard, *, named: bool) -> CachedResult | None:
        """Return the stored result if the file's bytes are unchanged."""
        located = path.absolute()
        entry = self._entry(str(located))
        if (
            wing.hangs_on_other_files
            or entry is None
            or entry.named is not named
            or entry.digest != _digest(content)
            or not _holds(entry, located, wing)
        ):
            return None
        self._remember(path, content, entry)
        return CachedResult(None if entry.outcome is None else _unpack(entry.outcome, path, content))

    def learn(self, path: Path, content: bytes, outcome: Outcome | None, wing: WingCard, *, named: bool) -> None:
        """Store a result. A failure is not stored, since it is a bug that the next run should reproduce.

        A result that depends on other files is not stored either.
        """
        if not isinstance(outcome, Failed) and not wing.hangs_on_other_files:
            packed = None if outcome is None else _pack(outcome)
            located = path.absolute()
            package = outcome is not None and package_mentions(located, wing)
            settings = settings_digest(located, wing)
            project = project_digest(located, wing)
            self._remember(path, content, _Entry(None, _digest(content), settings, package, project, packed, named))

    def _remember(self, path: Path, content: bytes, entry: _Entry) -> None:
        try:
            stat = _stat(path)
        except OSError:
            return
        # A file that is written twice within one clock tick keeps its stat. An older file does not.
        settled = time.time_ns() - stat[0] > _SETTLED_SECONDS * 10**9 and stat[1] == len(content)
        self._rows[str(path.absolute())] = entry._replace(stat=stat if settled else None)
        self._grown = True


def _holds(entry: _Entry, path: Path, wing: WingCard) -> bool:
    """Return whether the settings, the project and the package of a file are unchanged.

    If nothing was reported, the words of the package are not compared, since they only suppress findings.
    """
    if (entry.settings, entry.project) != _around(path, wing):
        return False
    return entry.outcome is None or entry.package == package_mentions(path, wing)


def _around(path: Path, wing: WingCard) -> tuple[str, str]:
    return settings_digest(path, wing), project_digest(path, wing)


def _stat(path: Path | str) -> list[int]:
    found = os.stat(path)  # noqa: PTH116
    return [found.st_mtime_ns, found.st_size, found.st_ino]


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def _pack(outcome: Outcome) -> str:
    value: list[Any]
    if isinstance(outcome, Refused):
        value = ["refused", outcome.reason, outcome.detail]
    else:
        assert isinstance(outcome, (Changed, Unchanged))
        value = ["unchanged", outcome.unparsed]
        value += [[_fix(fix) for fix in outcome.offered], [vars(skip) for skip in outcome.skips]]
        if isinstance(outcome, Changed):
            value = ["changed", *value[1:], [_fix(fix) for fix in outcome.applied]]
            value += _delta(outcome.source.content, outcome.after)
    return json.dumps(value, separators=(",", ":"))


def _unpack(packed: str, path: Path, content: bytes) -> Outcome:
    kind, *values = json.loads(packed)
    if kind == "refused":
        return Refused(path, *values)
    unparsed, *values = values
    source = SourceFile(path, content)
    offered = tuple(_fix_again(row) for row in values[0])
    skips = tuple(Skip(**row) for row in values[1])
    if kind == "unchanged":
        return Unchanged(source, offered, skips, unparsed)
    applied, start, end, middle = values[2:]
    after = content[:start] + zlib.decompress(middle.encode("latin-1")) + content[end:]
    return Changed(source, after, tuple(_fix_again(row) for row in applied), offered, skips, unparsed)


def _fix(fix: Fix) -> dict[str, Any]:
    edits = [(edit.start, edit.end, edit.text.decode("latin-1")) for edit in fix.edits]
    return {**vars(fix), "safety": fix.safety.value, "edits": edits}


def _fix_again(row: dict[str, Any]) -> Fix:
    edits = tuple(Edit(start, end, text.encode("latin-1")) for start, end, text in row["edits"])
    return Fix(
        **{
            **row,
            "safety": Safety(row["safety"]),
            "edits": edits,
            "needs": tuple(row["needs"]),
            "files": tuple(row["files"]),
        }
    )


def _delta(before: bytes, after: bytes) -> tuple[int, int, str]:
    start = _shared(before, after)
    same = _shared(before[start:][::-1], after[start:][::-1])
    return start, len(before) - same, zlib.compress(after[start : len(after) - same], 1).decode("latin-1")


def _shared(one: bytes, other: bytes) -> int:
    """Return the length of the common prefix in bytes."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
