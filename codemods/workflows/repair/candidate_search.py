"""The search: a candidate at each failing place is tried with all operators, and helpful ones are kept."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .candidate_builds import builds, that_build, with_picked
from .candidate_queue import CandidateQueue, Key, Picks
from .candidates import Candidate, CandidateSite, CandidateSources
from .cpp_build import NOT_COMPILED
from .edited_file import EditedFile
from .groups import AcceptedFix, FixGroup, groups, only
from .progress_metric import describe_outcome, expression, got_further, line_of, strip_advice
from .trial_runner import TrialRunner
from .trials import Trial, Tried

ROUNDS = 16
ALONE = "all samples, each repair alone"
"""Phase of a run in which each repair is tried in full without the others."""
_BACKINGS = 6
"""Limit on how often a stuck operator may drop a fix and continue with another candidate."""


@dataclass(frozen=True)
class Attempt:
    """A candidate that was tried for some operators, with the result."""

    candidate: Candidate
    operators: tuple[str, ...]
    kept: bool
    came: str
    built: bool = True
    deviating: tuple[str, ...] = ()
    """Operators whose result differed from eager without an error."""


@dataclass
class Search:
    """State of the search: the drafts, the last trial of each operator, and the attempts."""

    advisors: CandidateSources
    bench: TrialRunner
    drafts: dict[Path, EditedFile]
    trials: dict[str, Trial]
    grouping: Callable[[Mapping[str, Sequence[AcceptedFix]], Sequence[str]], list[FixGroup]] = groups
    """Function that divides changes into groups that are tried separately. By default, chains with a common fix are one
    group."""
    files: frozenset[Path] = frozenset()
    """Files that may be changed. Empty for no restriction."""
    provable: Callable[[Sequence[FixGroup], Mapping[Path, EditedFile]], None] = lambda groups, drafts: None
    """Callback for groups that pass separately on all samples and are final, while the search continues with others."""
    completable: Callable[[Sequence[FixGroup], Mapping[Path, EditedFile]], None] = lambda groups, drafts: None
    """Callback, after each round, for the final groups of passing operators. `complete` will try them."""
    patience: int = 0
    """Limit on successive candidates without progress of an operator, or 0 for none."""
    deadline: float = math.inf
    """Time of `time.monotonic` after which no round begins."""
    attempts: list[Attempt] = field(default_factory=list)
    mended_by_swap: list[str] = field(default_factory=list)
    """Operators that pass with the source tree's own unchanged kernels. Only Python is repaired for them."""
    chains: dict[str, list[AcceptedFix]] = field(default_factory=lambda: defaultdict(list))
    """Accepted fixes of each operator, in order."""
    _alone: set[str] = field(default_factory=set)
    """Operators known to pass with only the fixes of their own group."""
    _apart: set[tuple[object, ...]] = field(default_factory=set)
    """Operators that were tried with only their own fixes, each with these fixes."""
    _furthest: dict[str, tuple[AcceptedFix, ...]] = field(default_factory=dict)
    """Longest chain of each operator that went back."""
    _backed: Counter[str] = field(default_factory=Counter)
    _idle: Counter[str] = field(default_factory=Counter)
    """Number of successive candidates without progress, by operator."""
    _openings: CandidateQueue = field(init=False)

    def __post_init__(self) -> None:
        self._openings = CandidateQueue(self.advisors)

    def run(self, most: int, progress: Callable[[str], None], rounds: int = ROUNDS) -> bool:
        """Run rounds until no failing operator has an open candidate. ``most`` samples of each operator are tried.

        Returns whether that point was reached within ``rounds``.
        """
        for name, trial in self.trials.items():
            if name not in self._openings.sites:  # else its lines refer to its group's drafts
                self._place(name, trial, self.drafts)
        self._swap_in(most, progress)
        for number in range(1, rounds + 1):
            if self.over:
                return False
            picked = self._that_build(self._openings.pick(self.drafts))
            if not picked:
                if self._rid_of_others(most) or (not self._settled and self._stuck and self.complete(progress)):
                    continue
                if self._reopen_failed_for_others() or self._back_up(most):
                    continue
                return True
            drafts = with_picked(self.drafts, picked)
            names = _names(picked)
            progress(f"round {number}: {len(picked)} candidates for {len(names)} operators")
            with ThreadPoolExecutor(1) as beside:
                if self.bench.has_room_beside(names):
                    beside.submit(self._try_ahead, picked, most)
                tried = self._tried_on(drafts, picked, most)
            self._judge(picked, drafts, tried)
            self._swap_in(most, progress)
            passed = sum(trial.passed for trial in self.trials.values())
            progress(f"round {number}: {passed} of {len(self.trials)} pass")
            found = self.grouping(self.chains, self._passing)
            self.completable([one for one in found if self._stays(one, found)], self.drafts)
        return False

    def complete(self, progress: Callable[[str], None] = lambda _: None) -> bool:
        """Try each group without the others on all samples. Return whether more can be tried.

        An operator that needs a fix of another group joins that group, even without fixes of its own. A fix that makes
        an operator differ from eager without an error is dropped, even if it helps others.
        """
        passing = [name for name, trial in self.trials.items() if trial.passed]
        progress(f"each repair alone, in full: the {len(passing)} that pass")
        found = self.grouping(self.chains, passing)
        found += [
            FixGroup((), (name,)) for name in passing if not self.chains[name] and name not in self.mended_by_swap
        ]
        with self.bench.timing.phase(ALONE):
            tried = self.bench.try_alone(self.drafts, found)
        again = False
        whole: list[FixGroup] = []
        harmful: dict[int, tuple[AcceptedFix, Trial]] = {}
        for group, trials in zip(found, tried, strict=True):
            drafts = only(self.drafts, [group])
            if group.members and all(trial.passed for trial in trials.values()):
                whole.append(group)
            for name, trial in trials.items():
                if trial.passed:
                    self._alone.add(name)
                    continue
                missing = self._brought_by_others(trial, drafts, group)
                if missing is not None:
                    self._extend(name, missing)
                    again = True
                    continue
                self._found(name, trial, drafts)
                if trial.silent:
                    member = self.chains[name][-1]
                    harmful[id(member)] = member, trial
        for member, trial in harmful.values():
            self._take_back(member, trial, 0, "taken back")
        again = again or bool(harmful) or self.open
        if again:
            found = self.grouping(self.chains, self._passing)
            self.provable([one for one in whole if self._stays(one, found)], self.drafts)
        return again

    def _stays(self, group: FixGroup, now: Sequence[FixGroup]) -> bool:
        """Return whether a group is among ``now``, and shares no fix with an operator that still fails."""
        failing = (chain for name, chain in self.chains.items() if not self.trials[name].passed)
        shared = {member for chain in failing for member in chain}
        return shared.isdisjoint(group.members) and group in now

    def return_to_furthest(self) -> None:
        """Restore the longest chain of each operator that failed in the end, with its failure behind that chain."""
        found = [
            FixGroup(chain, (name,))
            for name, chain in self._furthest.items()
            if not self.trials[name].passed and len(chain) > len(self.chains[name])
        ]
        for group in found:
            for member in group.members:
                self.drafts[member.path] = self.drafts[member.path].restore(member.fixes)
        for group, trials in zip(found, self.bench.try_alone(self.drafts, found), strict=True):
            for name, trial in trials.items():
                self.chains[name] = list(group.members)
                self._found(name, trial, only(self.drafts, [group]))

    def move_to(self, bench: TrialRunner, operators: Iterable[str]) -> None:
        """Continue with trials that show more places of these operators. Candidates that were tried stay closed."""
        self.bench, self.advisors = bench, bench.advisors
        self._openings.advisors = bench.advisors
        for name in operators:
            self._idle[name] = self._backed[name] = 0
            self._openings.given_up.discard(name)
            group = FixGroup(tuple(self.chains[name]), (name,))
            (trials,) = bench.try_alone(self.drafts, [group])
            self._found(name, trials[name], only(self.drafts, [group]))

    @property
    def over(self) -> bool:
        """Return whether the deadline has passed."""
        return time.monotonic() > self.deadline

    @property
    def open(self) -> bool:
        """Return whether some failing operator has an open candidate."""
        return any(
            self._openings.any_at(self.drafts, sites)
            for name, sites in self._openings.sites.items()
            if name not in self._openings.given_up
        )

    def sites(self, name: str) -> tuple[CandidateSite, ...]:
        """Return the places at which an operator fails now, innermost first."""
        return self._openings.sites.get(name, ())

    def refuse(self, operators: Sequence[str], why: str, most: int, unrun: Sequence[tuple[Path, int]] = ()) -> None:
        """Drop a fix of these passing operators, since the full run did not confirm it.

        It is the last one by default. With ``unrun`` lines it is the one that wrote them, if another candidate is open
        at its place.
        """
        idle = self._wrote(operators, unrun) if unrun else []
        for name in operators:
            steps = [one for one in self.chains[name] if one in idle] if unrun else self.chains[name][-1:]
            if steps and self.trials[name].passed:
                self._take_back(steps[0], Trial(name, "not proven", why), most, "taken back")

    def _wrote(self, operators: Sequence[str], lines: Sequence[tuple[Path, int]]) -> list[AcceptedFix]:
        """Return the operators' fixes that wrote some lines and have another open candidate."""
        members = tuple(dict.fromkeys(member for name in operators for member in self.chains[name]))
        drafts = only(self.drafts, [FixGroup(members, tuple(operators))])
        found: dict[AcceptedFix, None] = {}
        for path, line in lines:
            at = drafts[path].origin(drafts[path].line_start(line))
            found |= dict.fromkeys(
                sorted((one for one in members if one.path == path), key=lambda one: _distance(one, at))[:1]
            )
        return [one for one in found if self._openings.any_at(self._without(one), [one.candidate.site])]

    def _brought_by_others(
        self, trial: Trial, drafts: Mapping[Path, EditedFile], group: FixGroup
    ) -> AcceptedFix | None:
        """Return a fix of another group at the place where an operator fails with only its own group, or None."""
        seen = dict(drafts)
        sites = self.bench.sites(trial, seen) if _failing(trial) else ()
        members = [member for chain in self.chains.values() for member in chain if member not in group.members]
        here = [member for member in members if member.candidate.site in sites]
        asked = expression(trial.message)
        same = [one for one in here if any(expression(before.message) == asked for before in one.before.values())]
        return next(iter(same or here), None)

    def _take_back(self, member: AcceptedFix, trial: Trial, most: int, why: str) -> None:
        self.drafts = self._without(member)
        names = [name for name, chain in self.chains.items() if member in chain]
        came = f"{why}: {trial.operator} {trial.verdict}: {strip_advice(trial.message)}"
        self._reopen(member, names)
        deviating = (trial.operator,) if trial.silent else ()
        self.attempts.append(Attempt(member.candidate, tuple(names), kept=False, came=came, deviating=deviating))
        for name in names:
            del self.chains[name][self.chains[name].index(member) :]
            self._alone.discard(name)
        # An operator that failed without the fix does so again. The last failure may be of no sample.
        samples = {name: member.before.get(name, self.trials[name]).sample for name in names}
        for name, now in self.bench.try_on(self.drafts, samples, most).trials.items():
            self._found(name, now, self.drafts)

    def _reopen(self, member: AcceptedFix, names: Sequence[str]) -> None:
        """Reopen the candidates that were open when ``member`` was taken, and failed for these operators since."""
        since = [one for one in self.attempts[member.tried :] if {*one.operators} & {*names}]
        self._untry(since, member.closed)

    def _untry(self, attempts: Iterable[Attempt], closed: Collection[Key] = ()) -> None:
        self._openings.reopen((one.candidate for one in attempts if one.built and not one.kept), closed)

    def _found(self, name: str, trial: Trial, drafts: Mapping[Path, EditedFile]) -> None:
        if not trial.passed:
            self._alone.discard(name)
        self.trials[name] = trial
        self._place(name, trial, drafts)

    def _place(self, name: str, trial: Trial, drafts: Mapping[Path, EditedFile]) -> None:
        self._openings.sites.pop(name, None)
        if _failing(trial):
            seen = dict(drafts)
            sites = self.bench.sites(trial, seen)
            if name in self.mended_by_swap:
                sites = tuple(site for site in sites if site.path.suffix == ".py")
            self._openings.sites[name] = tuple(site for site in sites if not self.files or site.path in self.files)
            self.drafts |= {path: draft for path, draft in seen.items() if path not in self.drafts}

    def _count_idle(self, names: Sequence[str], kept: bool) -> None:
        for name in names:
            self._idle[name] = 0 if kept else self._idle[name] + 1
            if 0 < self.patience <= self._idle[name]:
                self._openings.given_up.add(name)

    def _rid_of_others(self, most: int) -> bool:
        """Try each stuck operator with only its own fixes, since another's fix may be what stops it."""
        chains = {name: (name, *self.chains[name]) for name in self._stuck}
        found = [
            FixGroup(tuple(self.chains[name]), (name,)) for name, chain in chains.items() if chain not in self._apart
        ]
        self._apart.update(chains.values())
        passed = False
        for group, trials in zip(found, self.bench.try_alone(self.drafts, found, most), strict=True):
            for name, trial in trials.items():
                if trial.passed:
                    self._found(name, trial, only(self.drafts, [group]))
                    passed = True
        return passed

    def _reopen_failed_for_others(self) -> bool:
        """Reopen the candidates at the places of stuck operators that were tried on other operators only.

        Those that did not compile, or that made an operator differ from eager without an error, stay closed.
        """
        again = False
        for name in self._stuck:
            bad = (one.candidate for one in self.attempts if name in one.operators or one.deviating or not one.built)
            again |= self._openings.reopen_at(self.drafts, self.sites(name), bad)
        return again

    def _back_up(self, most: int) -> bool:
        """Drop a fix that helped a stuck operator but let no operator pass, if another candidate is open.

        Operators that deviated come first: a default that they took earlier may be wrong, and others wait for what made
        them deviate.
        """
        deviated = {name for one in self.attempts for name in one.deviating}
        for name in sorted(self._stuck, key=lambda name: name not in deviated):
            member = next(reversed(self.chains[name]), None)
            # Operators that pass need only the chains of passing operators.
            if member is None or any(member in self.chains[other] for other in self._passing):
                continue
            self._backed[name] += 1
            if self.trials[name].is_stop:
                self._furthest[name] = max(self._furthest.get(name, ()), tuple(self.chains[name]), key=len)
            self._take_back(member, self.trials[name], most, "leads nowhere")
            if self._openings.any_at(self.drafts, self.sites(name)):
                return True
        return False

    @property
    def _stuck(self) -> list[str]:
        """Return the operators that made progress without passing, and may still go back."""
        came_on = [name for name, chain in self.chains.items() if chain and not self.trials[name].passed]
        return [name for name in came_on if self._backed[name] < _BACKINGS]

    @property
    def _passing(self) -> list[str]:
        return [name for name, trial in self.trials.items() if trial.passed and self.chains[name]]

    @property
    def _settled(self) -> bool:
        """Return whether each passing operator is proven to pass without the fixes of other groups."""
        return self._alone.issuperset(self._passing)

    def _extend(self, name: str, member: AcceptedFix) -> None:
        self.chains[name].append(member)
        self._alone.discard(name)

    def _without(self, member: AcceptedFix) -> dict[Path, EditedFile]:
        draft = self.drafts[member.path]
        return {**self.drafts, member.path: draft.only([fix for fix in draft.taken if fix not in member.fixes])}

    def _swap_in(self, most: int, progress: Callable[[str], None]) -> None:
        """Run operators whose failure is now in C++ on the source tree's kernels, which are unchanged at first."""
        fresh = {
            name: self.trials[name].sample
            for name, sites in self._openings.sites.items()
            if name not in self.mended_by_swap
            and self._in_native(sites)
            and not self.bench.runs_swapped(name, self.trials[name])
        }
        if not fresh:
            return
        progress(f"swapping unchanged kernels in for {len(fresh)} operators")
        fresh = self.bench.swap_in({name: self.trials[name] for name in fresh}, self.drafts)
        tried = self.bench.try_on(self.drafts, fresh, most) if fresh else Tried({})
        for name, trial in tried.trials.items():
            if trial.passed and not self.chains[name]:
                self.mended_by_swap.append(name)
                self.bench.swapped.discard(name)
                self._place(name, self.trials[name], self.drafts)
                continue
            self._found(name, trial, self.drafts)
        for name in [one for one in self._openings.sites if one not in fresh and one not in self.bench.swapped]:
            self._openings.sites[name] = tuple(
                site for site in self._openings.sites[name] if site.path not in self.bench.refused
            )

    def _in_native(self, sites: tuple[CandidateSite, ...]) -> bool:
        """Return whether the failure is in C++. A Python frame without candidates may be only the caller."""
        for site in sites:
            if site.path.suffix != ".py":
                return True
            if self._openings.known(self.drafts, site):
                return False
        return False

    def _that_build(self, picked: Picks) -> Picks:
        left, unbuilt = that_build(self.bench, self.drafts, picked)
        for one in unbuilt:
            self._openings.close([one.candidate])
            came = f"{NOT_COMPILED}: {one.reason}"
            self.attempts.append(Attempt(one.candidate, one.operators, kept=False, came=came, built=False))
        return left

    def _tried_on(self, drafts: Mapping[Path, EditedFile], picked: Picks, most: int) -> Tried:
        """Run the picked operators, on all samples if a registration is tried, which no later candidate can correct."""
        newly = {name for candidate, operators in picked if candidate.site.registers for name in operators}
        asked = {name: self.trials[name].sample for name in _names(picked)}
        return self.bench.try_on(drafts, asked, most, newly)

    def _try_ahead(self, picked: Picks, most: int) -> None:
        """Try the candidates of the next round in case that none of ``picked`` helps, to fill the journal.

        An error here is repeated and reported in that round.
        """
        ahead = self._openings.pick(self.drafts, (candidate for candidate, _ in picked))
        if ahead and builds(self.bench, self.drafts, ahead):
            self._tried_on(with_picked(self.drafts, ahead), ahead, most)

    def _judge(
        self,
        picked: Picks,
        drafts: Mapping[Path, EditedFile],
        tried: Tried,
    ) -> None:
        kept: Picks = []
        closed = self._openings.close(candidate for candidate, _ in picked)
        for candidate, names in picked:
            pairs = [(self.trials[name], tried.trials[name]) for name in names]
            silent = [now for _, now in pairs if now.silent]
            moved = [line_of(was, self.drafts, drafts) != line_of(now, drafts, self.drafts) for was, now in pairs]
            better = [
                now
                for (was, now), elsewhere in zip(pairs, moved, strict=True)
                if got_further(was, now, candidate.site.registers, elsewhere)
            ]
            keep = bool(better) and not silent
            came = describe_outcome(pairs)
            self.attempts.append(Attempt(candidate, names, keep, came, deviating=tuple(now.operator for now in silent)))
            self._count_idle(names, keep)
            if keep:
                kept.append((candidate, names))
                if candidate.site.path.suffix != ".py":
                    # A place in C++ is a whole function: conditions further down were not reached before.
                    last = {one.candidate.key: one for one in self.attempts if _beside(one.candidate, candidate)}
                    self._untry(one for one in last.values() if not one.deviating)
        self.drafts = with_picked(self.drafts, kept)
        left = {path: list(draft.taken) for path, draft in self.drafts.items()}
        for candidate, names in reversed(kept):
            taken = left[candidate.site.path]
            count = len(candidate.fixes)
            before = {name: self.trials[name] for name in names}
            member = AcceptedFix(candidate, tuple(taken[len(taken) - count :]), before, closed, len(self.attempts))
            del taken[len(taken) - count :]
            for name in names:
                self._extend(name, member)
                self._found(name, tried.trials[name], drafts)


def _beside(one: Candidate, other: Candidate) -> bool:
    return one.site == other.site and one.key != other.key


def _names(picked: Picks) -> list[str]:
    return sorted({name for _, operators in picked for name in operators})


def _distance(member: AcceptedFix, at: int) -> tuple[int, int]:
    """Return the distance from a place of the original to a member's edits. On a tie the shorter edit is nearer."""
    edits = [edit for fix in member.fixes for edit in fix.edits]
    return min((max(edit.start - at, at - edit.end, 0), edit.end - edit.start) for edit in edits)


def _failing(trial: Trial) -> bool:
    return trial.verdict == "failed" and bool(trial.frames)
