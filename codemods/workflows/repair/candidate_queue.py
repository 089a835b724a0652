"""Queue of candidates at the places where operators fail."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .candidates import Candidate, CandidateSite, CandidateSources
from .edited_file import EditedFile

Drafts = Mapping[Path, EditedFile]
Picks = list[tuple[Candidate, tuple[str, ...]]]
"""Candidates, each with the operators to try it on."""
Key = tuple[Path, tuple[object, ...]]
"""Identity of a candidate, independent of the line of its place."""


@dataclass
class CandidateQueue:
    """Queue of candidates, each open until it is closed. ``sites`` are the places by operator, innermost first."""

    advisors: CandidateSources
    sites: dict[str, tuple[CandidateSite, ...]] = field(default_factory=dict)
    given_up: set[str] = field(default_factory=set)
    """Operators for which no more candidates are picked."""
    _closed: set[Key] = field(default_factory=set)
    _known: dict[tuple[CandidateSite, bytes, tuple[tuple[str, ...], ...]], list[Candidate]] = field(
        default_factory=dict
    )

    def close(self, candidates: Iterable[Candidate]) -> frozenset[Key]:
        """Mark candidates as tried. Return those that are closed now."""
        self._closed.update(map(_key, candidates))
        return frozenset(self._closed)

    def reopen(self, candidates: Iterable[Candidate], apart_from: Collection[Key] = ()) -> None:
        """Mark candidates as not tried, but for some."""
        self._closed.difference_update({_key(one) for one in candidates}.difference(apart_from))

    def reopen_at(self, drafts: Drafts, sites: Iterable[CandidateSite], apart_from: Iterable[Candidate]) -> bool:
        """Mark the candidates at some places as not tried, but for some. Return whether one was tried before."""
        kept = set(map(_key, apart_from))
        again = {_key(one) for site in sites for one in self.known(drafts, site)} & self._closed - kept
        self._closed -= again
        return bool(again)

    def pick(self, drafts: Drafts, passed_over: Iterable[Candidate] = ()) -> Picks:
        """Return the next candidate of each place, most operators first. Overlapping ones wait for a later round.

        Candidates in ``passed_over`` count as closed.
        """
        closed = self._closed.union(map(_key, passed_over))
        waiting: dict[CandidateSite, list[str]] = defaultdict(list)
        for name, sites in self.sites.items():
            for site in sites if name not in self.given_up else ():
                waiting[site].append(name)
        picked: Picks = []
        served: set[str] = set()
        for site, _ in sorted(waiting.items(), key=lambda item: (-len(item[1]), str(item[0]))):
            left = [name for name in waiting[site] if name not in served]
            names = [name for name in left if self._first(drafts, name, closed) == site]
            if not names:
                continue
            candidate = self._next(drafts, site, closed)
            if candidate is None or _meets(candidate, picked):
                continue
            picked.append((candidate, tuple(names)))
            served.update(names)
        return picked

    def any_at(self, drafts: Drafts, sites: Iterable[CandidateSite]) -> bool:
        """Return whether a candidate is open at one of these places."""
        return any(self._next(drafts, site, self._closed) is not None for site in sites)

    def known(self, drafts: Drafts, site: CandidateSite) -> list[Candidate]:
        """Return all candidates at a place, open or closed."""
        draft = drafts[site.path]
        key = (site, draft.step.after, self.advisors.conditions(site))
        if key not in self._known:
            self._known[key] = list(self.advisors.candidates(draft, site))
        return self._known[key]

    def _first(self, drafts: Drafts, name: str, closed: Collection[Key]) -> CandidateSite | None:
        return next((site for site in self.sites[name] if self._next(drafts, site, closed) is not None), None)

    def _next(self, drafts: Drafts, site: CandidateSite, closed: Collection[Key]) -> Candidate | None:
        return next((one for one in self.known(drafts, site) if _key(one) not in closed), None)


def _key(candidate: Candidate) -> Key:
    return candidate.site.path, candidate.key


def _meets(candidate: Candidate, picked: Picks) -> bool:
    mine = [edit for fix in candidate.fixes for edit in fix.edits]
    theirs = [e for other, _ in picked if other.site.path == candidate.site.path for f in other.fixes for e in f.edits]
    return any(one.start <= other.end and other.start <= one.end for one in mine for other in theirs)
