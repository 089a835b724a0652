"""Fuzzer that draws plans around an operator's samples, runs each at several sizes, and shrinks failures.

Each plan is compiled once. The same seed draws the same plans. One failure is kept for each place and expression. With
``apart``, each call runs in a process of its own, so that a crash is a failure like others.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import random
import re
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ..overlay.import_hooks import imported
from ..recorders.torch_frames import tells
from .operators import Questions, answer_all, claimed

_LARGER: dict[str, Callable[[int], int]] = {"one more": lambda size: size + 1, "larger": lambda size: 2 * size + 1}
_NUMBER = re.compile(r"\d[\d.e+-]*")
_SYMBOL = re.compile(r"\b([us])\d+\b")
_LOUD = "Runtime assertion failed"
Row = dict[str, Any]
Says = Callable[[Any, list[Any]], "Row | None"]


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and append each answer to the report immediately."""
    request: Row = json.loads(Path(request_path).read_bytes())

    def questions() -> Questions:
        importlib.import_module("hypothesis")  # without it, the child fails before the first plan
        op_db = imported("torch.testing._internal.common_methods_invocations").op_db

        from ..recorders.frame_capture import watch

        watch()
        operators = {(one.name, one.variant_test_name): one for one in op_db}
        for name, variant in claimed(request["operators"], request["claims"]):
            late = time.time() > request["until"]
            ask = _not_reached if late else partial(_fuzz, operators.get((name, variant)), request)
            yield "operator", [name, variant], ask

    answer_all(request, questions)


def _not_reached() -> Row:
    return {"tried": 0, "failures": [], "untestable": "", "late": True}


def _fuzz(operator: Any, request: Row) -> Row:
    started = time.monotonic()
    fuzzed = PlanResults(operator, request["seed"], request["seconds"], _apart if request["apart"] else _said)
    untestable = ""
    try:
        fuzzed.draw(request["examples"])
    except Exception as error:
        untestable = f"its samples can't be made: {type(error).__name__}: {error}"[:500]
    failures = list(fuzzed.failures()) if not untestable else []
    seconds = round(time.monotonic() - started, 2)
    return {"tried": fuzzed.tried, "failures": failures, "untestable": untestable, "seconds": seconds}


class Found(Exception):
    """Error raised by a plan that fails in the same way as the one being shrunk."""


class PlanResults:
    """Results of the plans of one operator, each run once.

    No plan starts after ``seconds``, and shrinking each failure has the same limit. ``says`` returns the failure of a
    plan's call, given the samples, or None.
    """

    def __init__(self, operator: Any, seed: int, seconds: float, says: Says | None = None) -> None:
        self._operator = operator
        self._says = says or _said
        self._seed = f"{seed} {operator.name if operator else ''} {operator.variant_test_name if operator else ''}"
        self._patience = seconds
        self._until = time.monotonic() + seconds
        self._known: dict[Any, Row | None] = {}
        self._buckets: dict[str, Any] = {}
        self._samples: list[Any] = []
        self._examples = 0
        self.tried = 0

    def draw(self, examples: int) -> None:
        """Run ``examples`` plans. Raises the errors of the operator's samples."""
        from ..samples.call_plans import samples_around

        if self._operator is not None:
            self._samples = samples_around(self._operator)
        self._examples = examples
        if self._samples:
            self._each(lambda plan: self._noted(plan))

    def failures(self) -> Iterator[Row]:
        """Yield each failure, shrunk, with the name of its call."""
        from ..samples.call_plans import name_of

        named = ".".join(filter(None, (self._operator.name, self._operator.variant_test_name)))
        for bucket, plan in list(self._buckets.items()):
            self._until = time.monotonic() + self._patience
            smallest = self._shrunk(bucket, plan)
            said = self._known[smallest]
            assert said is not None
            yield {**said, "call": name_of(named, smallest)}

    def _noted(self, plan: Any) -> None:
        said = self._run(plan)
        if said is not None:
            self._buckets.setdefault(bucket_of(said), plan)

    def _shrunk(self, bucket: str, first: Any) -> Any:
        """Return the simplest plan that hypothesis finds with a failure in the same bucket."""
        smallest = first

        def fails(plan: Any) -> None:
            nonlocal smallest
            said = self._run(plan)
            if said is not None and bucket_of(said) == bucket:
                smallest = plan
                raise Found

        with contextlib.suppress(Found):
            self._each(fails, shrink=True)
        return smallest

    def _each(self, test: Callable[[Any], None], shrink: bool = False) -> None:
        import hypothesis

        phases = [hypothesis.Phase.generate, *([hypothesis.Phase.shrink] if shrink else [])]
        settings = hypothesis.settings(
            max_examples=self._examples,
            database=None,
            deadline=None,
            phases=phases,
            suppress_health_check=list(hypothesis.HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        number = random.Random(self._seed).getrandbits(32)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            given: Any = hypothesis.given(plans())
            hypothesis.seed(number)(settings(given(test)))()

    def _run(self, plan: Any) -> Row | None:
        if plan in self._known:
            return self._known[plan]
        if time.monotonic() > self._until:
            return None
        self.tried += 1
        self._known[plan] = said = self._says(plan, self._samples)
        return said


def plans() -> Any:
    """Return the strategy for plans, in which earlier elements of a list are simpler."""
    from hypothesis import strategies as some

    from ..samples.call_plans import CONSUMERS, MARKS, SAMPLES, SIZES, VIEWS, CallPlan, View

    small = some.integers(0, 3)
    view = some.builds(View, some.sampled_from(VIEWS), small, small, small)
    return some.builds(
        CallPlan,
        some.integers(0, SAMPLES - 1),
        some.lists(view, max_size=3).map(tuple),
        some.sampled_from(list(CONSUMERS)),
        some.lists(some.sampled_from(MARKS), min_size=1, max_size=6).map(tuple),
        some.sampled_from(SIZES),
    )


def bucket_of(said: Row) -> str:
    """Return the place and the expression without the numbers of its symbols, or the kind of deviation."""
    if "deviation" in said:
        return f"deviation {_NUMBER.sub('n', said['deviation'])[:80]}"
    place = next((f"{one['file']}:{one['line']}" for one in said["frames"] if tells(one["file"])), "")
    asked = said["condition"] or _NUMBER.sub("n", said["text"])[:80]
    native = [frame["name"] for frame in said["native"]][:3]
    return " ".join([said["type"], place, *native, _SYMBOL.sub(r"\1", asked)])


def _said(plan: Any, samples: list[Any]) -> Row | None:
    """Return the failure of a plan's call, or None if it passes or can't be made in eager."""
    from ..samples.call_plans import planned
    from ..samples.samples import attempt

    made, error = attempt(lambda: planned(plan, samples))
    if error:
        return None
    expected, error = attempt(made.call)
    if error:
        return None
    said = _traced(made, expected)
    return None if said is None else {"sample": plan.sample % len(samples), "arguments": made.words, **said}


def _apart(plan: Any, samples: list[Any]) -> Row | None:
    """Run `_said` in a forked process. If that dies, report whether eager dies too."""
    said: Row | None
    said, died = _forked(lambda: _said(plan, samples))
    if not died:
        return said
    from ..samples.call_plans import planned

    made = planned(plan, samples)
    _, eager = _forked(lambda: _in_eager(made))
    text = f"{died}, in eager too" if eager else died
    told = {"type": "ProcessDied", "text": text, "condition": "", "frames": [], "native": []}
    return {"sample": plan.sample % len(samples), "arguments": made.words, **told}


def _in_eager(made: Any) -> None:
    for call in (made, *(other for _, other in _others(made))):
        with contextlib.suppress(Exception):
            call.call()


def _forked(work: Callable[[], Any]) -> tuple[Any, str]:
    """Run ``work`` in a forked process, and return its result as read from JSON and the signal that killed it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            with os.fdopen(writing, "w") as answer:
                answer.write(json.dumps(work()))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return json.loads(said or "null"), signal.Signals(-ended).name if ended < 0 else ""


def _traced(made: Any, expected: Any) -> Row | None:
    from ..protocols.compiled_call import Compiled
    from ..protocols.protocols import probe
    from ..recorders.frame_capture import explain
    from ..samples.samples import difference, repeats

    compiled = Compiled(made, "eager")
    try:
        result = made.call(compiled, unbacked=True)
    except Exception as error:
        told = explain(error)
        # A runtime assertion on an assumption about a size is not a failure.
        return None if _LOUD in told["text"] and not told["condition"] else told
    values = repeats(made.call, expected)
    deviation = difference(result, expected, values=values)
    if deviation and not difference(compiled.on_known_sizes(made), expected, values=values):
        return {"deviation": deviation}
    for how, other in _others(made):
        seen = probe(other, compiled)
        if seen.get("kind") == "silent":
            return {"deviation": f"at {how}: {seen['said']}"}
    return None


def _others(made: Any) -> Iterator[tuple[str, Any]]:
    for how, new in _LARGER.items():
        yield how, made.sized(new)
    for special, size in itertools.product((1, 0), made.all_sizes):
        if size != special:
            yield f"{special} instead of {size}", made.sized(lambda n, s=size, to=special: to if n == s else n)
