"""Protocols run on many operators in one process. Each answer is written immediately, so a crash costs one answer."""

from __future__ import annotations

import faulthandler
import importlib
import itertools
import json
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeVar

from ..overlay.changed_torch import Kernels, overlay
from ..overlay.import_hooks import collect_seldom, collecting_nothing
from ..samples.subject_kinds import OPERATORS

Item = TypeVar("Item")
Questions = Iterator[tuple[str, Any, Callable[[], dict[str, Any]]]]
"""Requests: the kind of the subject, its name, and the function that returns the answer."""


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and append each answer to the report immediately."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())

    def questions() -> Questions:
        importlib.import_module("..protocols.protocols", __package__)
        tasks = request["tasks"]
        kinds = {_kind_of(protocol) for _, protocol in tasks}
        subjects = {kind: by_name(kind, [name for name, run in tasks if _kind_of(run) == kind]) for kind in kinds}
        for name, protocol in claimed(tasks, request["claims"]):
            variants = subjects[_kind_of(protocol)].get(name, [])
            yield "task", [name, protocol], partial(observe, variants, protocol, request["samples"])

    answer_all(request, questions)


def answer_all(request: dict[str, Any], questions: Callable[[], Questions]) -> None:
    """Answer each of ``questions`` on the torch that the request describes, one report line each, and exit.

    ``questions`` is called when that torch may be imported. A line includes the calls of each kernel of the library.
    """
    recorder = overlay(request["modules"], request["wanted"])
    with Path(request["report"]).open("a") as report:
        with collecting_nothing():
            kernels = Kernels(request["library"], request["kernels"]) if request["library"] else None
            say(report, {"swaps": kernels.states() if kernels else []})
            quiet()
            _tell_what_is_registered(request["registered"])
            asked = questions()
            first = list(itertools.islice(asked, 1))
        collect_seldom()
        for kind, subject, ask in itertools.chain(first, asked):
            say(report, {"start": subject})
            calls = kernels.calls() if kernels else []
            faulthandler.dump_traceback_later(request["patience"], exit=True)
            with recorder.recording():
                answer = ask()
            faulthandler.cancel_dump_traceback_later()
            reached = [now - then for now, then in zip(kernels.calls(), calls, strict=True)] if kernels else []
            say(report, {kind: subject, "calls": reached, "ran": recorder.ran, **answer})
    # A library laid over torch's must not exist during torch's own teardown.
    os._exit(0)


def claimed(items: Sequence[Item], claims: str) -> Iterator[Item]:
    """Yield each item that no other process has claimed. Processes that share the list share the folder ``claims``."""
    for number, item in enumerate(items):
        try:
            os.close(os.open(Path(claims) / str(number), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        yield item


def _tell_what_is_registered(names: list[str]) -> None:
    if names:
        from ..protocols import python_kernels

        python_kernels.registrations.extend(names)


def observe(variants: list[Any], protocol: str, most: int) -> dict[str, Any]:
    """Return the results of all variants of one operator under one protocol, or the reason why there are none."""
    from ..protocols.protocols import PROTOCOLS

    started = time.monotonic()
    if not variants:
        return {"samples": [], "missing": "torch has no test of this name"}
    draw, run, limited = PROTOCOLS[protocol]
    try:
        drawn = [sample for variant in variants for sample in draw(variant)]
    except Exception as error:
        return {"samples": [], "missing": f"its samples can't be made: {type(error).__name__}: {error}"}
    some = spread(drawn, most) if limited else drawn
    seen = [_seen(run, sample) for sample in some]
    return {"samples": seen, "drawn": len(drawn), "seconds": round(time.monotonic() - started, 3)}


def _seen(run: Callable[[Any], dict[str, Any]], sample: Any) -> dict[str, Any]:
    try:
        return run(sample)
    except Exception as error:
        # An error in reading a result is an answer like any other.
        return {"passed": False, "error": f"its result can't be looked at: {type(error).__name__}: {error}"[:2000]}


def spread(drawn: list[Any], most: int) -> list[Any]:
    """Return at most ``most`` of ``drawn``, evenly spaced and including the first."""
    return drawn if len(drawn) <= most else [drawn[number * len(drawn) // most] for number in range(most)]


def by_name(kind: str = OPERATORS, calls: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Return the variants of each name. ``calls`` are the names of the drawn calls for the kind `CALLS`."""
    from ..samples.test_cases import subjects

    found: dict[str, list[Any]] = {}
    for (name, _), subject in subjects(kind, calls).items():
        found.setdefault(name, []).append(subject)
    return found


def _kind_of(protocol: str) -> str:
    kind, _, of_another = protocol.partition(" ")
    return kind if of_another else OPERATORS


def quiet() -> None:
    import torch

    from ..protocols.dynamo_setup import seed_quickly

    seed_quickly()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    # A warning shown once per process would appear in one child and not in the other.
    torch.set_warn_always(True)
    # Uninitialized memory gets the same bits each time.
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.set_num_threads(1)


def say(report: IO[str], line: dict[str, Any]) -> None:
    report.write(json.dumps(line) + "\n")
    report.flush()
