"""Traces of every sample of many operators. Several such processes share one list of operators."""

from __future__ import annotations

import faulthandler
import importlib
import itertools
import json
import logging
import os
import signal
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..overlay.changed_torch import Kernels, overlay
from ..overlay.import_hooks import collect_seldom, collecting_nothing
from .operators import claimed, say

_LONGEST_ARGUMENTS = 400
_SEEDS = "wrapper_set_seed"
_GROUPED = {"unbacked": False, "backed": True}
"""Protocols whose samples are sorted so that one trace serves several, with True if sizes have hints."""


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and append each answer to the report immediately."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    overlay(request["modules"])
    with Path(request["report"]).open("a") as report:
        with collecting_nothing():
            kernels = Kernels(request["library"], request["kernels"]) if request["library"] else None
            say(report, {"loaded": kernels.states() if kernels else []})
            operators = _prepare(request["kind"])
        collect_seldom()
        wanted = [(name, variant) for name, variant in request["operators"]]
        say(report, {"operators": len(wanted)})
        for name in claimed(wanted, request["claims"]):
            say(report, {"start": name})
            # Processor time, since a busy machine is not a hang; the wall clock for a sleeping process.
            signal.setitimer(signal.ITIMER_PROF, request["patience"])
            faulthandler.dump_traceback_later(request["wall"], exit=True)
            calls = kernels.calls() if kernels else []
            answer = _observe(operators.get(name), request)
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_PROF, 0)
            reached = [now - then for now, then in zip(kernels.calls(), calls, strict=True)] if kernels else []
            say(report, {"operator": name, "calls": reached, **answer})
    # A library laid over torch's must not exist during torch's own teardown.
    os._exit(0)


def _prepare(kind: str) -> dict[tuple[str, str], Any]:
    import torch

    from ..protocols.dynamo_setup import seed_quickly
    from ..recorders.frame_capture import watch
    from ..samples.test_cases import subjects

    seed_quickly()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    watch()
    return subjects(kind)


def _observe(operator: Any, request: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    answer: dict[str, Any] = {"tried": 0, "failures": [], "untestable": ""}
    try:
        for said in _failing(operator, request, answer):
            answer["failures"].append(said)
            if not request["every_sample"]:
                break
        if answer["failures"] and all(_SEEDS in failure.get("text", "") for failure in answer["failures"]):
            with _without_seeding():
                answer["behind"] = list(itertools.islice(_failing(operator, request, {"tried": 0}), 1))
    except _Untestable as reason:
        answer["untestable"] = str(reason)
    except _Outside:
        return {**answer, "outside": True, "seconds": 0.0}
    if not answer["tried"] and not answer["untestable"]:
        answer["untestable"] = "none of its samples has a dimension of two or more"
    return {**answer, "seconds": round(time.monotonic() - started, 3)}


def _failing(operator: Any, request: dict[str, Any], answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the failure of each failing sample. ``tried`` of ``answer`` counts the samples."""
    from ..protocols.hunt_protocols import PROTOCOLS, NoSample, Unlike
    from ..recorders.frame_capture import explain
    from ..samples.samples import grouped, telling

    some: Iterable[tuple[int, Any]] = enumerate(_drawn(operator, request["protocol"]))
    if request.get("samples"):
        numbered = dict(some)
        some = [(number, numbered[number]) for number in sorted(telling(numbered, request["samples"]))]
    if request["protocol"] in _GROUPED:
        some = grouped(some, hints=_GROUPED[request["protocol"]])
    for number, sample in some:
        try:
            said = PROTOCOLS[request["protocol"]](sample)
        except NoSample as reason:
            raise _Untestable(str(reason)) from None
        except Unlike as unlike:
            said = {"deviation": str(unlike)}
        except Exception as error:
            said = explain(error)
        answer["tried"] += said is not None
        fixed = (said or {}).pop("fixed", 0)
        answer["fixed"] = answer.get("fixed", 0) + fixed
        if said:
            yield {"sample": number, "arguments": _short(sample), **said}


@contextmanager
def _without_seeding() -> Iterator[None]:
    """Disable the seeding in torch's tests of random operators, which is inside the traced code and stops dynamo.

    Every call of a sample is seeded outside, so results do not change.
    """
    tests: Any = importlib.import_module("torch.testing._internal.common_methods_invocations")
    seeding = tests.wrapper_set_seed
    tests.wrapper_set_seed = lambda function, *args, **kwargs: function(*args, **kwargs)
    try:
        yield
    finally:
        tests.wrapper_set_seed = seeding


class _Untestable(Exception):
    pass


class _Outside(Exception):
    pass


def _drawn(operator: Any, protocol: str) -> Iterator[Any]:
    import torch

    from ..samples.test_cases import drawn

    if operator is None:
        raise _Untestable("torch has no test of this name")
    if torch.float32 not in operator.supported_dtypes("cpu"):
        raise _Outside
    try:
        yield from drawn(operator, protocol)
    except Exception as error:
        raise _Untestable(f"its samples can't be made: {type(error).__name__}: {error}") from None


def _short(sample: Any) -> str:
    """Return the arguments of a sample, tensors as ``float32[2, 3]``."""
    import torch
    from torch.utils import _pytree as pytree

    def show(leaf: Any) -> Any:
        if isinstance(leaf, torch.nn.Module):
            return _Shown(" ".join(repr(leaf).split()))
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return _Shown(f"{str(leaf.dtype).removeprefix('torch.')}{list(leaf.shape)}")

    args, kwargs = pytree.tree_map(show, sample.inputs())
    shown = [*(repr(arg) for arg in args), *(f"{name}={value!r}" for name, value in kwargs.items())]
    text = ", ".join(shown)
    return text if len(text) <= _LONGEST_ARGUMENTS else text[:_LONGEST_ARGUMENTS] + " …"


class _Shown(str):
    def __repr__(self) -> str:
        return str(self)
