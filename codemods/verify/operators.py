"""Ask a variant about many operators in one child; a crash costs one answer, and the rest is asked again."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from .. import storage
from .isolation import Ended
from .scratch import new_name
from .variants import Laboratory, Variant

CONCRETE = ("eager", "varied", "decomposed")
"""Protocols that call and trace nothing; the last runs what no C++ kernel has a part in."""
MADE_UP = ("varied", "decomposed")
"""Protocols that make hundreds of calls out of an operator's samples."""
PROTOCOLS = (*CONCRETE, "backed", "unbacked")
SAMPLES = 24
_START_SECONDS = 120
_PATIENCE_LOST = "Timeout ("
"""What a child's own watch says when it ends it."""

Task = tuple[str, str]
"""The name of an OpInfo and a protocol."""


@dataclass(frozen=True)
class Answer:
    """What one task gave: its samples' observations in order, or why there are none."""

    samples: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    drawn: int = 0
    """How many samples there were to choose from."""
    missing: str = ""
    crashed: str = ""
    overtime: bool = False
    """A time limit ended it."""
    calls: tuple[int, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Answers:
    """All tasks' answers; ``states`` are the shim's, and ``broken`` says why the variant could not even be loaded."""

    tasks: dict[Task, Answer]
    states: tuple[str, ...] = ()
    broken: str = ""


def ask_all(
    laboratory: Laboratory,
    variant: Variant,
    tasks: Sequence[Task],
    samples: int = SAMPLES,
    told: Callable[[Task], None] = lambda _: None,
) -> Answers:
    """Run every task on ``variant``. A task whose child dies is answered with how it died.

    The laboratory's limits of time hold for each task.
    """
    answers: dict[Task, Answer] = {}
    states: tuple[str, ...] = ()
    left = list(tasks)
    while left:
        report = laboratory.scratch / new_name("answers")
        report.touch()
        limits = laboratory.limits
        whole = replace(
            limits, wall=limits.wall * len(left) + _START_SECONDS, cpu=limits.cpu * len(left) + _START_SECONDS
        )
        request = {"tasks": left, "samples": samples, "patience": limits.wall}
        ended, _ = laboratory.ask("operators", variant, request, report, whole)
        loaded, started, fresh = _read(report)
        if loaded is None or (started is None and left == list(tasks)):
            return Answers(answers, loaded or states, _how(ended, limits.wall))
        states = loaded
        for task, answer in fresh.items():
            answers[task] = answer
            told(task)
        left = [task for task in left if task not in answers]
        if left:
            victim = started if started in left else left[0]
            answers[victim] = Answer(crashed=f"the process {_how(ended, limits.wall)}", overtime=_met_a_limit(ended))
            told(victim)
            left.remove(victim)
    return Answers(answers, states)


def recalled(key: str, tasks: Sequence[Task], ask: Callable[[], Answers]) -> Answers:
    """The answers kept under ``key``, or else what ``ask`` gives, kept unless something died."""
    path = storage.folder("answers") / f"{key}.json"
    try:
        fields = json.loads(storage.load(path) or b"")
        rows = [
            Answer(**{**row, "samples": tuple(row["samples"]), "calls": tuple(row["calls"])}) for row in fields["tasks"]
        ]
        return Answers(dict(zip(tasks, rows, strict=True)), tuple(fields["states"]))
    except (ValueError, KeyError, TypeError):
        pass
    answers = ask()
    if not answers.broken and not any(answer.crashed for answer in answers.tasks.values()):
        fields = {"states": answers.states, "tasks": [asdict(answers.tasks[task]) for task in tasks]}
        storage.store(path, json.dumps(fields).encode())
    return answers


def _met_a_limit(ended: Ended) -> bool:
    """Whether a limit of time ended the child, on the wall's clock or the processor's."""
    return ended.timed_out or (ended.code == 1 and _PATIENCE_LOST in ended.stderr) or ended.code == -signal.SIGXCPU


def _how(ended: Ended, patience: float) -> str:
    if ended.died:
        return ended.died
    if ended.code == 1 and _PATIENCE_LOST in ended.stderr:
        return f"ended with 1: it was stopped after {patience:.0f} s"
    said = ended.stderr.strip().splitlines()
    return f"ended with {ended.code}: {said[-1] if said else 'without a word'}"


def _read(report: Path) -> tuple[tuple[str, ...] | None, Task | None, dict[Task, Answer]]:
    states: tuple[str, ...] | None = None
    started: Task | None = None
    answers: dict[Task, Answer] = {}
    for line in report.read_bytes().splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        if "swaps" in said:
            states = tuple(said["swaps"])
        elif "start" in said:
            started = (said["start"][0], said["start"][1])
        else:
            answers[said["task"][0], said["task"][1]] = Answer(
                samples=tuple(said["samples"]),
                drawn=said.get("drawn", 0),
                missing=said.get("missing", ""),
                calls=tuple(said.get("calls", ())),
                seconds=said.get("seconds", 0.0),
            )
    return states, started, answers
