"""Trials of operators or modules with unbacked sizes, up to the first failing sample: its error and its source."""

from __future__ import annotations

import importlib
import json
import signal
import time
from functools import partial
from pathlib import Path
from typing import Any

from ..recorders.torch_frames import TorchStack, stack_now, told, told_of
from .operators import Questions, answer_all, claimed, spread

_NO_CHECK = "symbolically traced variables cannot be used as inputs to control flow"
"""Text of torch's error if no runtime check can express a condition on the value computed from a size."""
_THROWN = ("on tensor with symbolic sizes/strides", "does not support symbolic shapes")
"""Texts of errors that C++ throws without a question about a size."""
_APART = 12
"""Maximum number of an operator's samples that are also compiled by its decompositions, the slowest part of a trial."""
_REGISTERED = 8
"""Number of calls of a registered kernel per requested sample. All of them, several hundred, would take long."""
_BEFORE, _BEHIND = -1, 1_000_000
"""Sample numbers for a failure of a registered kernel: before any sample was tried, or after all of them passed."""
_UNBACKED = ("unbacked", "backward")
"""Protocols in which a failure names the undecided size, and the code is called at other sizes."""
_TOGETHER = {"0": lambda _: 0, "1": lambda _: 1, "one more": lambda n: n + 1, "larger": lambda n: 2 * n + 1}


def main(request_path: str) -> None:
    """Run the request in the JSON file at ``request_path``, and append each answer to the report immediately."""
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())

    def questions() -> Questions:
        from ..recorders.frame_capture import watch
        from ..samples.test_cases import full_name, subjects

        importlib.import_module("..protocols.protocols", __package__)
        if request["protocol"] not in _UNBACKED:
            watch()
        calls = [name for name, _ in request["operators"]]
        by_full_name = {full_name(name): subject for name, subject in subjects(request["kind"], calls).items()}
        witness = FrameRecorder()
        _compare_shapes(witness)
        for name, wanted in claimed(request["operators"], request["claims"]):
            yield "operator", name, partial(_in_time, by_full_name.get(name), witness, wanted, request)

    answer_all(request, questions)


class _Overtime(BaseException):
    """Error raised when an operator exceeds its limit on processor time."""


def _stop(number: int, frame: Any) -> None:
    raise _Overtime


def _in_time(operator: Any, witness: FrameRecorder, wanted: int, request: dict[str, Any]) -> dict[str, Any]:
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, request["cpu"])
    started = time.process_time()
    try:
        said = _try(operator, witness, wanted, request["most"], request["protocol"])
    except _Overtime:
        said = {"verdict": "failed", "message": f"more than {request['cpu']} s of processor time", "crashed": True}
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {**said, "seconds": round(time.process_time() - started, 2)}


def _try(operator: Any, witness: FrameRecorder, wanted: int, most: int, protocol: str) -> dict[str, Any]:
    """Return the verdict on one operator: passed, failed, wrong (unlike eager or C++), deviates, untestable.

    ``most`` samples are tried, spread over all of them, number ``wanted`` first. 0 means all. Registered kernels are
    compared with C++ before any sample if all are tried, or if ``wanted`` is no sample because that comparison failed
    last time. Otherwise they come last, since they take longer than a failing sample.
    """
    from ..samples.samples import grouped, telling
    from ..samples.test_cases import drawn

    count = 0
    eager_errors = 0
    if operator is None:
        return {"verdict": "untestable", "message": "torch has no test of this name"}
    try:
        pairs = [pair for pair in enumerate(drawn(operator, protocol)) if pair[1].resizable]
        first = not most or wanted not in dict(pairs)
        said = _unlike_native(operator, most, witness) if first else None
        if said:
            return {**said, "sample": wanted if wanted == _BEHIND else _BEFORE}
        some = spread(pairs, most) if most else pairs
        # The sample that failed last comes first: if it fails again, no other needs to be tried.
        alike = grouped([one for one in pairs if one in some or one[0] == wanted])
        some = sorted(alike, key=lambda one: one[0] != wanted)
        apart = telling(dict(some), _APART) | {wanted}
        compiled = None
        for number, sample in some:
            witness.forget()
            if protocol in _UNBACKED:
                compiled = _compiled(sample, number in apart, compiled)
                seen = _unbacked(sample, compiled, number in apart)
            else:
                seen = _hunted(sample, protocol)
            if seen.get("eager"):
                eager_errors += 1
                continue
            count += 1
            found = _finding(seen, witness.shapes)
            if found:
                place = seen.get("place") or witness.testimony(found["message"])
                return {**found, "sample": number, "count": count, **place}
        said = None if first else _unlike_native(operator, most, witness)
        if said:
            return {**said, "sample": _BEHIND}
    except Exception as error:
        return {"verdict": "untestable", "message": f"its samples can't be made: {type(error).__name__}: {error}"}
    verdict = "passed" if count else "untestable"
    return {
        "verdict": verdict,
        "message": "" if count else f"no sample to try ({eager_errors} fail in eager)",
        "count": count,
    }


def _compiled(sample: Any, take_apart: bool, last: Any) -> Any:
    """Return the code for a sample: that of the ``last`` one if dynamo would make the same, else code not yet made."""
    from ..protocols import protocols
    from ..protocols.compiled_call import Compiled

    if last is not None and not take_apart and last.accepts(sample):
        return last
    return Compiled(sample, sample.backend, others=protocols.ONE_BY_ONE if take_apart else ())


def _unbacked(sample: Any, compiled: Any, take_apart: bool) -> dict[str, Any]:
    """Run PyTorch's protocol, compare the result, and call the compiled code at other sizes."""
    from ..protocols import protocols
    from ..samples.samples import attempt, describe, difference, repeats

    expected, refused = attempt(sample.outcome)
    if refused:
        return {"passed": False, "error": refused, "eager": True}
    try:
        result = sample.outcome(compiled, unbacked=True)
    except Exception as error:
        thrown = any(words in str(error) for words in _THROWN)
        return {"passed": False, "error": describe(error), **({"place": _place(error)} if thrown else {})}
    said = difference(result, expected, values=repeats(sample.outcome, expected))
    if said:
        return {"passed": False, "silent": True, "error": said}
    probes = protocols.at_other_sizes(sample, compiled, _TOGETHER)
    apart, said = protocols.taken_apart(sample, expected, compiled) if take_apart else (None, "")
    if said:
        return {"passed": False, "silent": True, "error": said}
    if apart:
        seen = protocols.at_other_sizes(sample, apart, _TOGETHER)
        probes |= {f"{size}, taken apart": said for size, said in seen.items()}
    return {"passed": True, "probes": probes}


def _hunted(sample: Any, protocol: str) -> dict[str, Any]:
    """Run the protocol of a hunt. The ``place`` of a failure is explained as a hunt does it."""
    from ..protocols.hunt_protocols import PROTOCOLS, NoSample, Unlike
    from ..samples.samples import describe

    try:
        PROTOCOLS[protocol](sample)
    except NoSample as reason:
        return {"passed": False, "error": str(reason), "eager": True}
    except Unlike as unlike:
        return {"passed": False, "error": str(unlike), "silent": True}
    except Exception as error:
        return {"passed": False, "error": describe(error), "place": _place(error)}
    return {"passed": True, "probes": {}}


def _place(error: Exception) -> dict[str, Any]:
    """Return an error as a hunt explains it, and the references of the operators that C++ was composing."""
    from ..recorders.frame_capture import explain
    from ..recorders.python_references import CALLS, composed, references

    explained = explain(error)
    names = [frame["name"] for frame in explained["native"] if any(word in frame["name"] for word in CALLS)]
    return {"explained": explained, "references": references(names), "composed": composed(names)}


def _unlike_native(operator: Any, most: int, witness: FrameRecorder) -> dict[str, Any] | None:
    """Return the failure of a trial if a newly registered kernel deviates from C++, or None."""
    said, frames = _registered(operator, most)
    if not said:
        return None
    witness.found_at(frames)
    return {"verdict": "failed" if frames else "wrong", "message": said, **witness.testimony(said)}


def _registered(operator: Any, most: int) -> tuple[str, list[Any]]:
    """Return the deviation of a newly registered kernel from C++.

    The frames are those of a missing derivative, if that is the only deviation.
    """
    from ..protocols import python_kernels

    # Modules are covered by the operators' own tests, which the proof runs.
    if not python_kernels.registrations or not hasattr(operator, "sample_inputs"):
        return "", []
    drawn = python_kernels.samples_for_registered(operator)
    for sample in spread(drawn, _REGISTERED * most) if most else drawn:
        said = python_kernels.registered(sample)["error"]
        if said:
            return said, python_kernels.undifferentiable(sample, said)
    return "", []


def _finding(seen: dict[str, Any], shapes: str) -> dict[str, str] | None:
    if not seen["passed"]:
        return {"verdict": "wrong" if seen.get("silent") else "failed", "message": seen["error"]}
    if shapes:
        return {"verdict": "deviates", "message": shapes}
    for size, deviation in seen["probes"].items():
        if deviation.get("kind") == "silent":
            return {"verdict": "deviates", "message": f"at {size}: {deviation['said']}"}
    return None


class FrameRecorder:
    """Recorder of the frames, of Python and C++, at which a data-dependent error was created."""

    _asked: TorchStack
    _divided: TorchStack
    _told: list[Any]

    def __init__(self) -> None:
        shapes: Any = importlib.import_module("torch.fx.experimental.symbolic_shapes")
        error = shapes.GuardOnDataDependentSymNode
        make = error.__init__

        def made(itself: Any, *arguments: Any, **named: Any) -> None:
            make(itself, *arguments, **named)
            self._asked = stack_now()

        error.__init__ = made
        self._keep_divisions()
        self.forget()

    def _keep_divisions(self) -> None:
        """Record where a size was last divided to a float, since no runtime check can express the result."""
        import torch

        divide: Any = torch.SymInt.__truediv__

        def divided(itself: Any, other: Any) -> Any:
            self._divided = stack_now()
            return divide(itself, other)

        torch.SymInt.__truediv__ = divided  # type: ignore[method-assign]

    def forget(self) -> None:
        self._asked = self._divided = TorchStack()
        self._told = []
        self.shapes = ""
        """Difference between a shape predicted while tracing and the real one, or empty."""

    def found_at(self, frames: list[Any]) -> None:
        """Set the source to the given Python frames, innermost last, instead of an error about a size."""
        self._asked, self._told = TorchStack(), frames

    def testimony(self, message: str) -> dict[str, Any]:
        """Return the frames of torch's own code, as `TorchStack.testimony`."""
        of_a_size = bool(self._told) or "DataDependent" in message or "data-dependent" in message
        no_check = _NO_CHECK in message
        if not (of_a_size or no_check):
            return {"frames": [], "user": []}
        stack = self._told[::-1] or self._asked.frames()
        frames = told_of(stack)
        if no_check and not frames:
            return {"frames": told_of(self._divided.frames()), "user": self._divided.user}
        if not of_a_size:
            return {"frames": [], "user": []}
        return {**told(stack), "user": self._asked.user}


def _compare_shapes(witness: FrameRecorder) -> None:
    """Patch the eager backend to compare the shapes of its results with those that tracing predicted.

    The graph calls the real operator, so a wrong shape function would not show in the result.
    """
    registry: Any = importlib.import_module("torch._dynamo.backends.registry")
    look_up = registry.lookup_backend

    def looked_up(name: Any) -> Any:
        inner = look_up(name)
        return _holding(inner, witness) if name == "eager" else inner

    registry.lookup_backend = looked_up


def _holding(inner: Any, witness: FrameRecorder) -> Any:
    def backend(graph: Any, inputs: Any) -> Any:
        run = inner(graph, inputs)
        given = [node.meta.get("example_value") for node in graph.graph.nodes if node.op == "placeholder"]
        (output,) = [node for node in graph.graph.nodes if node.op == "output"]
        promised = [getattr(node, "meta", {}).get("example_value") for node in output.args[0]]

        def held(*arguments: Any) -> Any:
            results = run(*arguments)
            witness.shapes = witness.shapes or _broken_promise(given, arguments, promised, results)
            return results

        return held

    return backend


def _broken_promise(given: Any, arguments: Any, promised: Any, results: Any) -> str:
    known: dict[Any, int] = {}
    for fake, real in zip(given, arguments, strict=False):
        if hasattr(real, "shape") and hasattr(fake, "shape"):
            known |= {_expression(size): now for size, now in zip(fake.shape, real.shape, strict=False)}
        elif isinstance(real, int):
            known[_expression(fake)] = real
    symbols = {one: now for one, now in known.items() if getattr(one, "is_Symbol", False)}
    for fake, real in zip(promised, results, strict=False):
        if hasattr(fake, "shape") and hasattr(real, "shape"):
            for size, now in zip(fake.shape, real.shape, strict=False):
                expression = _expression(size)
                if isinstance(size, int) and size != now:
                    return f"the shape {list(real.shape)} where {list(fake.shape)} was promised"
                if getattr(expression, "free_symbols", None) and expression.free_symbols <= symbols.keys():
                    value = expression.subs(symbols)
                    if value.is_number and int(value) != now:
                        sizes = {str(one): size for one, size in symbols.items()}
                        return f"the shape {list(real.shape)} where {expression} was promised, at {sizes}"
    return ""


def _expression(size: Any) -> Any:
    node = getattr(size, "node", None)
    return getattr(node, "expr", None) if node is not None else None
