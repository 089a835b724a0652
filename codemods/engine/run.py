"""Run of the rules: prefilter, stored results, worker processes, outcomes in path order."""

from __future__ import annotations

import hashlib
import os
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..model.outcome import Changed, Failed, Outcome, Refused, Unchanged
from ..model.rule import Context, Fix
from ..model.source_file import SourceFile
from ..system.gc_pause import collecting_nothing
from ..system.parent_death import die_with_parent
from .cache_dependencies import package_mentions
from .file_discovery import DiscoveredFile, admit, is_generated, read
from .fixpoint import FixOptions, RuleBug, rewrite
from .multi_file import drop_partial_changes
from .project_facts import project_facts
from .registry import Registry, WingCard, load_language, load_rules
from .result_cache import Results

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

FEW_BYTES = 200_000
"""Amount of source below which a second process costs more than it saves."""
_CHUNK_BYTES = 60_000
_CHUNKS = 256
"""Approximate number of chunks of a large tree. More would only add transfers to other processes."""


class RuleInputs(Protocol):
    """Inputs of the rules other than the file, built only when a rule runs."""

    @property
    def identity(self) -> str:
        """Return a text that differs if the context differs."""

    def context(self) -> Context:
        """Build the context. This may be slow and may raise."""


@dataclass(frozen=True)
class CheckRequest:
    """Request for every file: the rules, and options for their fixes."""

    rules: frozenset[str]
    wishes: FixOptions = field(default_factory=FixOptions)
    registry: Registry = field(default_factory=Registry)
    all_functions: bool = True
    """True if rules about registered functions also run on files without registrations."""

    def concerns(self, content: bytes, wing: WingCard) -> bool:
        """Return whether a selected rule may apply to a file."""
        pairs = _markers(self.rules, wing, self.all_functions)
        return any(_one_of(markers, content) and (not more or _one_of(more, content)) for markers, more in pairs)


@lru_cache
def _markers(
    rules: frozenset[str], wing: WingCard, all_functions: bool
) -> tuple[tuple[tuple[bytes, ...], tuple[bytes, ...]], ...]:
    """Return marker literals of the selected rules, with the registration literals of which one must also occur."""
    found: dict[tuple[bytes, ...], set[bytes]] = {}
    for card in wing.rules:
        if card.name in rules:
            found.setdefault(() if all_functions else card.registering, set()).update(card.markers)
    return tuple((_shortest(literals), more) for more, literals in sorted(found.items()))


def _shortest(literals: set[bytes]) -> tuple[bytes, ...]:
    return tuple(sorted(m for m in literals if not any(other in m for other in literals - {m})))


def _one_of(literals: tuple[bytes, ...], content: bytes) -> bool:
    return any(literal in content for literal in literals)


@dataclass(frozen=True)
class RunReport:
    """Outcomes in path order, of files that were named or have something to report."""

    outcomes: tuple[Outcome, ...]
    seen: int


class Spread(Protocol):
    """Function that gives the tasks to an executor and reports how many outcomes are complete."""

    def __call__(
        self,
        tasks: Sequence[Task],
        question: CheckRequest,
        context: Context,
        executor: Executor,
        progress: Callable[[int, int], None],
    ) -> list[Outcome]: ...


@collecting_nothing()
def run(
    targets: Sequence[DiscoveredFile],
    question: CheckRequest,
    surroundings: RuleInputs,
    *,
    jobs: int = 1,
    executor: Executor | None = None,
    spread: Spread | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> RunReport:
    """Run the selected rules on every target.

    ``spread`` gives the tasks to an executor that shares no memory and no disk with this process. Neither the number of
    jobs nor the executor changes the result. A rule that fails affects only its own file.
    """
    results = Results.load(_key(question, surroundings))
    outcomes: dict[str, Outcome | None] = {}
    pending: list[tuple[DiscoveredFile, Task]] = []
    ahead = _Ahead(surroundings)
    for target in targets:
        answer = _without_rules(target, question, results)
        if isinstance(answer, Task):
            ahead.begin()
            pending.append((target, answer))
        else:
            outcomes[target.located] = answer
    if pending:
        context = ahead.context()
        tasks = [task for _, task in pending]
        if executor is not None:
            answers = (spread or spread_chunks)(tasks, question, context, executor, progress)
        else:
            answers = _examine_all(tasks, question, context, jobs, progress)
        for (target, task), answer in zip(pending, answers, strict=True):
            silent = _says_nothing(answer)
            outcomes[target.located] = None if silent and not target.named else answer
            if task.on_disk:
                results.learn(task.path, task.content, None if silent else answer, task.wing, named=task.named)
    results.save()
    found = [outcome for target in targets if (outcome := outcomes[target.located]) is not None]
    whole = drop_partial_changes(
        found, lambda outcome, fixes: drop_fixes(outcome, fixes, question, surroundings.context())
    )
    return RunReport(tuple(whole), len(targets))


class _Ahead:
    """Context that is built in a thread while the files are read, since building it may require a child process."""

    def __init__(self, surroundings: RuleInputs) -> None:
        self._surroundings = surroundings
        self._thread: threading.Thread | None = None
        self._made: Context | Exception | None = None

    def begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._make, daemon=True)
            self._thread.start()

    def context(self) -> Context:
        """Return the context. Re-raises the exception from building it."""
        assert self._thread is not None
        self._thread.join()
        if isinstance(self._made, Exception):
            raise self._made
        assert self._made is not None
        return self._made

    def _make(self) -> None:
        try:
            self._made = self._surroundings.context()
        except Exception as error:
            self._made = error


@dataclass(frozen=True)
class Task:
    """File to examine. ``package_speaks`` is None if it is not computed yet."""

    path: Path
    content: bytes
    wing: WingCard
    on_disk: bool
    project: bytes = b""
    package_speaks: bool | None = None
    named: bool = False


def _without_rules(target: DiscoveredFile, question: CheckRequest, results: Results) -> Outcome | Task | None:
    wing = question.registry.suffixes.get(target.suffix)
    if wing is None:
        return _unknown(target, question.registry)
    hit = None if target.named else results.by_stat(target, wing)
    if hit is not None:
        return hit.outcome
    content = read(target.path) if target.content is None else target.content
    if isinstance(content, Refused):
        return content
    hit = results.by_content(target.path, content, wing, named=target.named) if target.content is None else None
    if hit is not None:
        return _aloud(content, target) if hit.outcome is None else hit.outcome
    if not target.named and not question.concerns(content, wing):
        results.learn(target.path, content, None, wing, named=False)
        return None
    admitted = admit(target.path, content) if not target.named and is_generated(content) else None
    if isinstance(admitted, Refused) and _says_nothing(admitted):  # decided here, to save sending it elsewhere
        results.learn(target.path, content, None, wing, named=False)
        return None
    project = project_facts(target.path.absolute(), wing)
    return Task(target.path, content, wing, target.content is None, project, named=target.named)


def _says_nothing(outcome: Outcome) -> bool:
    """Return whether an outcome matters only if the file was named.

    Generated files are, like tests, part of any tree.
    """
    if isinstance(outcome, Refused):
        return outcome.reason == "generated"
    return isinstance(outcome, Unchanged) and not (outcome.offered or outcome.skips or outcome.unparsed is not None)


def _unknown(target: DiscoveredFile, registry: Registry) -> Refused:
    content = b"" if target.content is not None else read(target.path)
    if isinstance(content, Refused):
        return content
    known = ", ".join(sorted(registry.suffixes))
    what = f"{target.path.suffix} files" if target.path.suffix else "files without a suffix"
    return Refused(target.path, "unknown-language", f"no rule reads {what}; they read {known}")


def _aloud(content: bytes, target: DiscoveredFile) -> Outcome | None:
    """Return the outcome of a file without findings, or None if it was not named."""
    if not target.named:
        return None
    source = admit(target.path, content)
    return source if isinstance(source, Refused) else Unchanged(source)


def _examine_all(
    tasks: Sequence[Task],
    question: CheckRequest,
    context: Context,
    jobs: int,
    progress: Callable[[int, int], None],
) -> list[Outcome]:
    if jobs < 2 or sum(len(task.content) for task in tasks) < FEW_BYTES:
        answers = []
        for done, task in enumerate(tasks):
            progress(done, len(tasks))
            answers.append(examine(task, question, context))
        return answers
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    for package in {task.wing.package for task in tasks}:
        load_rules(package)  # once here, so that forked processes need not
    methods = multiprocessing.get_all_start_methods()
    start = multiprocessing.get_context("fork" if "fork" in methods else methods[0])
    with ProcessPoolExecutor(jobs, mp_context=start, initializer=die_with_parent, initargs=(os.getpid(),)) as pool:
        return spread_chunks(tasks, question, context, pool, progress)


def chunked(tasks: Sequence[Task]) -> list[list[int]]:
    """Return the numbers of the tasks in chunks, the largest files first."""
    chunks: list[list[int]] = []
    full = weight = max(_CHUNK_BYTES, sum(len(task.content) for task in tasks) // _CHUNKS)
    for number in sorted(range(len(tasks)), key=lambda number: -len(tasks[number].content)):
        if weight >= full:
            chunks.append([])
            weight = 0
        chunks[-1].append(number)
        weight += len(tasks[number].content)
    return chunks


def spread_chunks(
    tasks: Sequence[Task],
    question: CheckRequest,
    context: Context,
    executor: Executor,
    progress: Callable[[int, int], None],
) -> list[Outcome]:
    """Return the outcomes of the tasks, computed by an executor on this machine."""
    from concurrent.futures import as_completed

    futures: dict[Future[list[Outcome]], list[int]] = {
        executor.submit(examine_chunk, [tasks[number] for number in chunk], question, context): chunk
        for chunk in chunked(tasks)
    }
    answers: dict[int, Outcome] = {}
    for future in as_completed(futures):
        answers.update(zip(futures[future], future.result(), strict=True))
        progress(len(answers), len(tasks))
    return [answers[number] for number in range(len(tasks))]


def examine_chunk(tasks: Sequence[Task], question: CheckRequest, context: Context) -> list[Outcome]:
    return [examine(task, question, context) for task in tasks]


def examine(task: Task, question: CheckRequest, context: Context) -> Outcome:
    """Return the outcome of one file. An unexpected exception becomes a Failed with its traceback.

    Rules depend on the location of a file, so they get its absolute path.
    """
    source = admit(task.path, task.content)
    if isinstance(source, Refused):
        return source
    path = task.path.absolute()
    speaks = package_mentions(path, task.wing) if task.package_speaks is None else task.package_speaks
    located = SourceFile(path, task.content, speaks, task.project, task.named)
    try:
        rules = [rule for rule in load_rules(task.wing.package) if rule.name in question.rules]
        outcome = rewrite(located, rules, load_language(task.wing.package), context, question.wishes)
    except (RecursionError, MemoryError):  # the latter is raised by Python's own parser
        return Refused(
            task.path, "nested-too-deeply", "is nested deeper than symfix can follow; split its deepest expression"
        )
    except Exception:
        return Failed(task.path, traceback.format_exc())
    return replace(outcome, path=task.path) if isinstance(outcome, Refused) else replace(outcome, source=source)


def drop_fixes(outcome: Changed, fixes: Sequence[Fix], question: CheckRequest, context: Context) -> Changed | Unchanged:
    """Return the outcome without some of its applied fixes. Fixes of later rounds are decided again."""
    wing = question.registry.wing(outcome.source.path)
    assert wing is not None
    without = question.wishes.without | {(fix.rule, fix.start) for fix in fixes}
    project = project_facts(outcome.source.path.absolute(), wing)
    task = Task(outcome.source.path, outcome.source.content, wing, on_disk=False, project=project)
    left = examine(task, replace(question, wishes=replace(question.wishes, without=without)), context)
    if isinstance(left, (Refused, Failed)):
        raise RuleBug(f"without {len(fixes)} of its fixes {outcome.source.path} can't be rewritten: {left.detail}")
    return replace(left, unparsed=outcome.unparsed)


def default_jobs() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _key(question: CheckRequest, surroundings: RuleInputs) -> str:
    parts = (question.registry.identity, sorted(question.rules), question.wishes, surroundings.identity)
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()
