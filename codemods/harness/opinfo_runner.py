"""Operator tests in child processes: a crash costs one answer, and the remaining operators are run again."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..system import cache_folder
from .process_limits import Ended
from .resilient_batch import Batch, BatchReport, limits_for, watched
from .torch_variant import Harness, Ran, Variant, merged

OPERATORS, MODULES, HOPS, CALLS = "operators", "modules", "hops", "calls"
"""Kinds of subjects: torch's OpInfos and ModuleInfos, the OpInfos of higher-order operators, and calls drawn around an
OpInfo's samples."""
UNBACKED, BACKED, BACKWARD, DYNAMIC, INDUCTOR = "unbacked", "backed", "backward", "dynamic", "inductor"
HIGHER_ORDER = "hop"
"""Name for users of the protocol `UNBACKED` with subjects of the kind `HOPS`."""
DECOMPOSED, DECOMPOSED_TWICE = "decomposed", "decomposed-twice"
"""Protocols that run torch's decompositions in place of C++ kernels. The first calls each sample once, the second
twice to test whether the result repeats."""
CONCRETE = ("eager", "varied", DECOMPOSED, f"{MODULES} eager", f"{HOPS} eager", f"{CALLS} eager")
"""Protocols that only call, without tracing."""
MADE_UP = ("varied", DECOMPOSED)
"""Protocols that make hundreds of calls from an operator's samples."""
PROTOCOLS = ("eager", "varied", DECOMPOSED, "backed", "unbacked")
REGISTERED = "registered"
"""Protocol that compares the Python kernels registered by a change with the C++ composites that they replace."""
SAMPLES = 24
_START_SECONDS = 120
_PATIENCE_LOST = "Timeout ("
"""Prefix of the message that a child's own timer prints when it ends the child."""

Task = tuple[str, str]
"""Name of an OpInfo, and a protocol. A first word of the protocol selects another kind of subject (``modules
eager``)."""


@dataclass(frozen=True)
class Answer:
    """Result of one task: the observations of its samples in order, or the reason why there are none."""

    samples: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    drawn: int = 0
    """Number of samples from which those to run were selected."""
    missing: str = ""
    crashed: str = ""
    overtime: bool = False
    """True if a time limit ended the task."""
    calls: tuple[int, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Answers:
    """Results of all tasks.

    ``states`` are those of the kernel shim. ``broken`` is the reason why the variant did not load.
    """

    tasks: dict[Task, Answer]
    states: tuple[str, ...] = ()
    broken: str = ""
    ran: Ran = field(default_factory=dict)


def ask_all(
    laboratory: Harness,
    variant: Variant,
    tasks: Sequence[Task],
    samples: int = SAMPLES,
    told: Callable[[Task], None] = lambda _: None,
    counted: Callable[[int], None] | None = None,
    jobs: int = 1,
) -> Answers:
    """Run every task on ``variant``, in ``jobs`` children. A task whose child dies gets the reason as its answer.

    ``counted`` is called with each new number of finished tasks. The time limits of the harness apply to each task.
    """
    states: tuple[str, ...] = ()
    ran: Ran = {}

    def hear(said: list[dict[str, Any]], ended: Ended) -> BatchReport[Task, Answer]:
        nonlocal states, ran
        loaded, heard, told_of = _read(said)
        states, ran = loaded or states, merged([ran, told_of])
        return heard

    with watched(counted, b'"task"') as opened:
        answers, broken = Batch(
            "operators",
            request=lambda some: {"tasks": some, "samples": samples},
            parse_report=hear,
            on_crash=lambda task, ended: Answer(
                crashed=f"the process {_how(ended, laboratory.limits.wall)}", overtime=_met_a_limit(ended)
            ),
            limits=lambda count: limits_for(laboratory.limits, count, _START_SECONDS),
            on_answer=told,
            on_report=opened,
        ).run_shared(laboratory, variant, tasks, jobs)
    if broken is not None:
        return Answers(answers, states, _how(broken, laboratory.limits.wall))
    return Answers(answers, states, ran=ran)


def recalled(key: Callable[[Task], str], tasks: Sequence[Task]) -> dict[Task, Answer]:
    """Return the cached answers of tasks, by the ``key`` under which `remember` stored each."""
    folder = cache_folder.folder("answers")
    return {task: answer for task in tasks if (answer := _kept(folder / f"{key(task)}.json")) is not None}


def remember(key: Callable[[Task], str], answers: Answers) -> None:
    """Cache the answer of every task whose child did not crash, without recorded statements and shim states."""
    folder = cache_folder.folder("answers")
    for task, answer in answers.tasks.items():
        if not answers.broken and not answer.crashed:
            cache_folder.store(folder / f"{key(task)}.json", json.dumps(asdict(answer)).encode())


def _kept(place: Path) -> Answer | None:
    try:
        row = json.loads(cache_folder.load(place) or b"")
        return Answer(**{**row, "samples": tuple(row["samples"]), "calls": tuple(row["calls"])})
    except (ValueError, KeyError, TypeError):
        return None


def _met_a_limit(ended: Ended) -> bool:
    """Return whether a limit on wall-clock or processor time ended the child."""
    return ended.timed_out or (ended.code == 1 and _PATIENCE_LOST in ended.stderr) or ended.code == -signal.SIGXCPU


def _how(ended: Ended, patience: float) -> str:
    if ended.died:
        return ended.died
    if ended.code == 1 and _PATIENCE_LOST in ended.stderr:
        return f"ended with 1: it was stopped after {patience:.0f} s"
    said = ended.stderr.strip().splitlines()
    return f"ended with {ended.code}: {said[-1] if said else 'without a word'}"


def _read(rows: list[dict[str, Any]]) -> tuple[tuple[str, ...] | None, BatchReport[Task, Answer], Ran]:
    states: tuple[str, ...] | None = None
    begun: Task | None = None
    answers: dict[Task, Answer] = {}
    ran: Ran = {}
    for said in rows:
        if "swaps" in said:
            states = tuple(said["swaps"])
        elif "start" in said:
            begun = (said["start"][0], said["start"][1])
        else:
            ran = said["ran"]
            answers[said["task"][0], said["task"][1]] = Answer(
                samples=tuple(said["samples"]),
                drawn=said.get("drawn", 0),
                missing=said.get("missing", ""),
                calls=tuple(said.get("calls", ())),
                seconds=said.get("seconds", 0.0),
            )
    return states, BatchReport(states is not None, begun, answers), ran
