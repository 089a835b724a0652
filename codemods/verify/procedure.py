"""Steps of one verification: build, swap, replay the user's scripts, run torch's own operator tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

from ...python.rewrite.registration import newly_registered
from ..harness.fork_server import TESTS, TRACED_TESTS, forking
from ..harness.opinfo_runner import MADE_UP, Task
from ..harness.torch_variant import Harness, Variant
from ..torchapi import TorchApi
from ..torchapi.derivatives import operators_by_formula
from ..torchapi.torch_finder import TorchInstallation
from .before_after import Side, Sides, started
from .build.compilation import Builder
from .build.kernel_libraries import Libraries, Unbuildable, build
from .build.kernel_shim import FORMULA
from .build.toolchain import Toolchain
from .change import Change, Check, KernelSwap, Verdict, Verification
from .choose.function_index import CoverageFailed, trace_index
from .choose.test_selection import (
    SelectedTests,
    choose_cpp,
    choose_python,
    composed_of,
    coverage,
    operators_through,
    running_change,
)
from .evidence import holds, installed, question_key
from .reproduction import BrokenSide, Checks, compared, confirmed
from .request import PlacedRequest, traces
from .unrun_lines import LineCoverage, shown
from .user_scripts import Memory, Replays
from .verdict import decide

_MOST_BESIDE = 4
"""Maximum number of tests for changed Python that run in addition to requested ones, or one for each function if these
are more."""


class VerificationAborted(Exception):
    """Error that ends the verification with a verdict and a reason."""

    def __init__(self, verdict: Verdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict = verdict


@dataclass(frozen=True)
class TorchUnderTest:
    """Installed torch, with its API and a toolchain for it if C++ has changed."""

    place: TorchInstallation
    api: TorchApi | None = None
    toolchain: Toolchain | None = None


class Procedure:
    """One verification in one harness. Its partial results are in the answer even if it ends early."""

    def __init__(
        self,
        laboratory: Harness,
        torch: TorchUnderTest,
        jobs: int,
        progress: Callable[[str], None],
        memory: Memory | None = None,
        ready: Harness | None = None,
    ) -> None:
        self._laboratory = laboratory
        self._testing = ready or laboratory
        self._started: dict[str, Side] = {}
        self._starting = Lock()
        self._side: Callable[[Variant], Side] = lambda variant: Side(self._testing, variant)
        self._place = torch.place
        self._api = torch.api
        self._toolchain = torch.toolchain
        self._jobs = max(1, jobs)
        self._progress = progress
        self._memory = memory
        self._libraries: Libraries | None = None
        self._states: tuple[str, ...] = ()
        self._calls: list[int] = []
        self._chosen = ""
        self._unreached: tuple[str, ...] = ()
        self._compared: tuple[Variant, ...] = ()
        self._lines = LineCoverage({}, torch.toolchain, laboratory.scratch)
        self._blame = (Verdict.BROKEN_BASELINE, Verdict.REGRESSED)
        self._index: Callable[[], dict[str, list[str]]] = lambda: coverage(self._testing, torch.place, progress)

    def answer(
        self, question: PlacedRequest, blank: Verification, proven: Callable[[Side, Side], None] | None = None
    ) -> Verification:
        """Fill the verdict on ``question`` into ``blank``, and return it.

        ``proven`` is called with both sides if that is the verdict, unless they run on other machines.
        """
        self._lines = LineCoverage(question.modules, self._toolchain, self._laboratory.scratch)
        builder = None
        if self._toolchain:
            builder = Builder(self._toolchain, self._laboratory.scratch, self._jobs, progress=self._progress)
        with ExitStack() as stack:
            if builder:
                stack.callback(builder.close)
            scripts = bool(question.repros or proven)
            if self._testing is self._laboratory and not self._laboratory.piece:
                # Torch is imported while the compilers run.
                chosen = question.operators != ()
                at_once = (chosen or scripts) and not question.modules
                tests = TRACED_TESTS if chosen else TESTS
                self._testing = stack.enter_context(
                    forking(self._laboratory, self._jobs, preloaded=tests, at_once=at_once, scripts=scripts)
                )
            side = self._side = partial(self._side_of, stack=stack, scripts=scripts)
            replays = Replays(side, question.repros, question.tests, question.folder, self._jobs, self._memory)
            stack.callback(replays.close)
            if question.cpp and question.chooses:
                beside = stack.enter_context(ThreadPoolExecutor(1, thread_name_prefix="index"))
                self._index = beside.submit(coverage, self._testing, self._place, self._progress).result
            answer = self._answer(question, blank, builder, replays)
            if proven and answer.verdict is Verdict.PROVEN and not self._laboratory.piece:
                proven(*map(self._side, self._compared))
            return answer

    def _side_of(self, variant: Variant, stack: ExitStack, scripts: bool) -> Side:
        if self._laboratory.piece:
            return Side(self._laboratory, variant)
        with self._starting:
            if variant.name not in self._started:
                self._started[variant.name] = started(
                    variant, self._laboratory, self._testing, self._jobs, stack, scripts=scripts
                )
            return self._started[variant.name]

    def _answer(
        self, question: PlacedRequest, blank: Verification, builder: Builder | None, replays: Replays
    ) -> Verification:
        checks: list[Check] = []
        commands: tuple[str, ...] = ()
        unrun: tuple[str, ...] = ()
        try:
            if self._api and builder:
                derivatives = operators_by_formula(self._place.package)
                self._libraries = build(question.cpp, self._api, builder, self._progress, derivatives)
            before, after = self._variants(question)
            if question.against_installed:
                before = Variant("before", identity="installed")
                self._blame = (Verdict.BROKEN_BASELINE, Verdict.BROKEN_BASELINE)
            self._compared = before, after
            # Operator tests report a side that does not load. Only their choice depends on the swapped kernels.
            replayed = self._replayed(replays, before, after, must_load=question.chooses)
            checks += replayed
            if question.chooses:
                self._require_swaps()
            operators, bystanders = self._operators(question, after.registered)
            formulas = any(swap.key == FORMULA for swap in self._swaps())
            tasks = question.tests_of(operators, bystanders, registers=bool(after.registered), formulas=formulas)
            tested = self._operated(tasks, question.samples, before, after)
            self._require_swaps()
            checks += tested.values()
            unrun = tuple(self._lines.unrun(self._libraries)) if checks else ()
            if unrun and question.operators == () and not any(check.lost for check in checks):
                tested |= self._called(question, before, after)
                checks = [*replayed, *tested.values()]
                unrun = tuple(self._lines.unrun(self._libraries))
            ran = frozenset(operators) | frozenset(bystanders)
            verdict, reason = self._decided(question, checks, unrun, ran)
            if question.more and (verdict is Verdict.NEUTRAL or (verdict is Verdict.UNVERIFIABLE and unrun)):
                tested |= self._operated(list(filter(traces, tasks)), question.more, before, after)
                checks = [*replayed, *tested.values()]
                unrun = tuple(self._lines.unrun(self._libraries))
                verdict, reason = self._decided(question, checks, unrun, ran)
        except Unbuildable as failure:
            verdict, commands = failure.verdict, failure.commands
            reason = f"{', '.join(change.path.name for change in question.cpp)} {failure}"
        except VerificationAborted as obstacle:
            verdict, reason = obstacle.verdict, str(obstacle)
        except CoverageFailed as failure:
            verdict, reason = Verdict.UNVERIFIABLE, str(failure)
        return replace(
            blank,
            verdict=verdict,
            reason=reason,
            checks=tuple(checks),
            swaps=self._swaps(),
            chosen=self._chosen,
            unrun=unrun,
            ran_all=verdict is Verdict.NEUTRAL and (not question.cpp or self._lines.all_counted(self._libraries)),
            omitted=self._libraries.omitted if self._libraries else (),
            commands=self._libraries.commands if self._libraries else commands,
        )

    def _decided(
        self, question: PlacedRequest, checks: Sequence[Check], unrun: Sequence[str], ran: frozenset[str]
    ) -> tuple[Verdict, str]:
        """Return the verdict on the checks, and its reason. Raises VerificationAborted if nothing was run."""
        if not checks:
            raise VerificationAborted(
                Verdict.UNVERIFIABLE, f"nothing was run: {self._chosen or 'name a --repro, a --test or an --op'}"
            )
        verdict, reason = decide(checks, reached=self._reached(question), unrun=shown(unrun))
        if verdict in (Verdict.PROVEN, Verdict.NEUTRAL):
            unreached = self._lines.untold()
            if unreached and verdict is Verdict.NEUTRAL and not unreached & set(self._unreached):
                self._unreached = self._not_among(question.modules, ran)
            idle = [name for name in self._unreached if name in unreached]
            if idle:
                return Verdict.UNVERIFIABLE, f"no test reaches {', '.join(idle)}; {reason}"
        return verdict, reason

    def _not_among(self, modules: Mapping[str, Change], ran: frozenset[str]) -> tuple[str, ...]:
        """Return the changed functions that none of the operator tests ``ran`` runs."""
        found = operators_through(modules, self._laboratory, self._place, self._progress)
        return tuple(function.qualname for function, running in found.items() if ran.isdisjoint(running))

    def _variants(self, question: PlacedRequest) -> tuple[Variant, Variant]:
        libraries = self._libraries
        kernels = len(libraries.candidates) if libraries else 0
        sides = []
        for side in ("before", "after"):
            files = {}
            for name, change in question.modules.items():
                files[name] = self._laboratory.scratch / f"{side}.{name}.py"
                files[name].write_bytes(change.before if side == "before" else change.after)
            if side == "before" and self._holds_before(question):
                files = {}
            library = None if libraries is None else libraries.before if side == "before" else libraries.after
            sides.append(Variant(side, library, kernels, files, self._identity(question, side)))
        new = [name for one in question.modules.values() for name in newly_registered(one.before, one.after)]
        return sides[0], replace(sides[1], wanted=self._lines.touched, registered=tuple(new))

    def _holds_before(self, question: PlacedRequest) -> bool:
        return holds(self._place.package, {name: change.before for name, change in question.modules.items()})

    def _identity(self, question: PlacedRequest, side: str) -> str:
        """Return a hash of the contents of a side. Sides that are identical to the installed torch share its hash."""
        if side == "before" and not question.cpp and self._holds_before(question):
            return installed(self._place.package)
        parts = [
            self._toolchain.identity if self._toolchain else "",
            repr(self._libraries and self._libraries.candidates),
        ]
        contents = [part.encode() for part in parts]
        for name, change in (*((str(c.path), c) for c in question.cpp), *question.modules.items()):
            contents += [name.encode(), change.before if side == "before" else change.after]
        return question_key(contents)

    def _replayed(self, replays: Replays, before: Variant, after: Variant, *, must_load: bool) -> list[Check]:
        if replays.subjects:
            self._progress(f"running {replays.subjects} before, after and as installed")
        checks, ran, loads = replays.compare(before, after, must_load=must_load)
        for side, variant, verdict in zip(loads, (before, after), self._blame, strict=False):
            if not side.loaded:
                raise VerificationAborted(
                    verdict, f"torch {variant.name} the change does not load: {side.observation.message}"
                )
        for replayed in ran:
            self._count(replayed.states, replayed.calls)
            self._lines.add(replayed.ran)
        return checks

    def _reached(self, question: PlacedRequest) -> bool:
        """Return whether a kernel that runs changed code was called. It is True for Python, which the index covers."""
        return self._libraries is None or any(
            swap.calls for swap in running_change(question.cpp, [swap for swap in self._swaps() if swap.swapped])
        )

    def _require_swaps(self) -> None:
        if self._libraries and not any(swap.swapped for swap in self._swaps()):
            why = "; ".join(f"{swap.kernel}: {swap.state}" for swap in self._swaps())
            reason = why or "the file defines no composite kernel at a signature that this torch expects"
            raise VerificationAborted(
                Verdict.UNVERIFIABLE, f"it builds before and after, but nothing could be swapped in: {reason}"
            )

    def _operators(
        self, question: PlacedRequest, registered: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the operator tests to run under all protocols, and the bystanders.

        Operators that C++ composes of a ``registered`` one are bystanders.
        """
        asked = question.operators or ()
        if not question.complete and question.operators is not None:
            self._chosen = f"as asked: {', '.join(asked)}" if asked else ""
            return asked, question.bystanders
        native, python = self._choices(question)
        choices = [choice for choice in (native, python) if choice is not None]
        reasons = "; ".join(choice.reason for choice in choices)
        self._chosen = f"as asked: {', '.join(asked)}; by the change: {reasons}" if asked else reasons
        # A requested operator may run a function that is missing from the index.
        self._unreached = tuple(
            name for choice in choices for name in choice.unreached if not (asked or question.tasks)
        )
        full = [*asked, *(native.operators if native else ())]
        beside = list(question.bystanders)
        if registered:
            beside += composed_of(registered, self._index())
        if (asked or question.tasks) and python is not None:
            beside += python.operators[: max(_MOST_BESIDE, python.functions)]
        elif python is not None:
            full += python.operators
        operators = tuple(dict.fromkeys(full))
        return operators, tuple(name for name in dict.fromkeys(beside) if name not in operators)

    def _choices(self, question: PlacedRequest) -> tuple[SelectedTests | None, SelectedTests | None]:
        """Return the operator tests that reach the changes, in C++ and in Python."""
        native = python = None
        if self._libraries is not None:
            swapped = [swap for swap in self._swaps() if swap.swapped]
            native = choose_cpp(question.cpp, swapped, self._index())
        if question.modules:
            traced = trace_index(self._laboratory, self._place, self._progress)
            python = choose_python(question.modules, traced, self._place.package)
        return native, python

    def _operated(self, tasks: Sequence[Task], samples: int, before: Variant, after: Variant) -> Checks:
        if not tasks:
            return {}
        self._progress(f"running {len(tasks)} operator tests before and after: {self._chosen}")

        def told(counts: str) -> None:
            self._progress(f"operator tests: {counts}: {self._chosen}")

        sides = Sides(self._place.build, self._side(before), self._side(after), self._jobs, told)
        try:
            checks, answers = compared(sides, tasks, samples)
            self._lines.add(answers.ran)
            for answer in answers.tasks.values():
                self._count(answers.states, answer.calls)
            return confirmed(checks, sides, samples, self._progress)
        except BrokenSide as broken:
            side = ("before", "after")[broken.number]
            said = f"torch {side} the change can't run operator tests: {broken}"
            raise VerificationAborted(self._blame[broken.number], said) from None

    def _called(self, question: PlacedRequest, before: Variant, after: Variant) -> Checks:
        """Run operator tests on concrete sizes in addition to a user's script, which seldom runs each changed line."""
        concrete = MADE_UP if question.modules else ("varied",)
        cheap = [protocol for protocol in concrete if protocol in question.protocols]
        try:
            operators, _ = self._operators(replace(question, operators=None)) if cheap else ((), ())
        except CoverageFailed:
            return {}
        tasks = [(operator, protocol) for protocol in cheap for operator in operators]
        return self._operated(tasks, question.samples, before, after)

    def _count(self, states: tuple[str, ...], calls: Sequence[int]) -> None:
        self._states = states or self._states
        self._calls += [0] * (len(calls) - len(self._calls))
        for number, count in enumerate(calls):
            self._calls[number] += count

    def _swaps(self) -> tuple[KernelSwap, ...]:
        return self._libraries.swaps(self._states, self._calls) if self._libraries else ()
