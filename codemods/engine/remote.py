"""Examination of files on other machines, which have the same torch and symfix but share no disk with this one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from typing import Any

from ..model.outcome import Changed, Outcome, Refused, Unchanged
from ..model.rule import Context
from ..model.source_file import SourceFile
from ..system.cluster import UnlikeWorker, spread
from ..torchapi import TorchApi
from ..torchapi.torch_finder import locate
from .cache_dependencies import package_mentions
from .registry import Registry
from .run import CheckRequest, Task, chunked, examine


@dataclass(frozen=True)
class _Asked:
    """Data that is sent with the files."""

    question: CheckRequest
    sources: str
    build: str
    context: dict[str, Any]
    """Fields of the context other than ``api`` and ``torch_root``, since each worker has its own torch."""


def spread_far(
    tasks: Sequence[Task],
    question: CheckRequest,
    context: Context,
    executor: Executor,
    progress: Callable[[int, int], None],
) -> list[Outcome]:
    """Return the outcomes of the tasks, in their order. Raises UnlikeWorker if a worker has another torch or symfix."""
    build = locate(None, None).build
    names = [one.name for one in fields(context) if one.name not in ("api", "torch_root")]
    shared = {name: getattr(context, name) for name in names}
    asked = _Asked(question, question.registry.sources, build, shared)
    away = [_away(task) for task in tasks]
    answers: dict[int, Outcome] = {}
    parts: list[list[Any]] = [[(number, away[number]) for number in chunk] for chunk in chunked(tasks)]
    for part, outcomes in spread(executor, _examine, parts, asked, lost=_lost):
        answers.update({number: _home(tasks[number], one) for (number, _), one in zip(part, outcomes, strict=True)})
        progress(len(answers), len(tasks))
    return [answers[number] for number in range(len(tasks))]


def _away(task: Task) -> Task:
    path = task.path.absolute()
    return replace(task, path=path, package_speaks=package_mentions(path, task.wing))


def _home(task: Task, outcome: Outcome) -> Outcome:
    if isinstance(outcome, (Changed, Unchanged)):
        return replace(outcome, source=SourceFile(task.path, task.content))
    return replace(outcome, path=task.path)


def _lost(item: tuple[int, Task]) -> Outcome:
    return Refused(item[1].path, "worker-died", "took its workers with it; look at it on this machine")


def _examine(part: list[tuple[int, Task]], asked: _Asked) -> list[Outcome]:
    """Examine some tasks on a worker. Raises UnlikeWorker."""
    registry = Registry(asked.question.registry.packages)
    here = locate(None, None)
    for what, own, theirs in (("torch", here.build, asked.build), ("symfix", registry.sources, asked.sources)):
        if own != theirs:
            raise UnlikeWorker(f"a worker has another {what} than this machine ({own}, here {theirs})")
    context = Context(TorchApi.at(here), **asked.context)
    question = replace(asked.question, registry=registry)
    return [examine(task, question, context) for _, task in part]
