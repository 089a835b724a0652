"""Protocols: each runs one sample of one operator and returns its observations as plain values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..samples.argument_variation import varied_samples_of
from ..samples.samples import Sample, attempt, difference, digest, error_samples_of, layout, repeats, samples_of
from ..samples.side_effects import call_and_watch, gradients
from ..samples.test_cases import BACKWARD, drawn
from .compiled_call import Alike, Compiled
from .decompositions import through_decompositions
from .dynamo_setup import NOT_AGAIN
from .python_kernels import registered, samples_for_registered
from .specialization_protocol import specialized, unlike_when_larger
from .symbolic_trace import traced

Seen = dict[str, Any]
ONE_BY_ONE = {"aot_eager_decomp_partition": "as decomposed", "aot_eager": "as traced"}
"""Backends that run the operators of a graph one by one, the preferred one first, each with a description."""
_TOGETHER: dict[str, Callable[[int], int]] = {"0": lambda _: 0, "1": lambda _: 1, "larger": lambda size: 2 * size + 1}
"""Sizes at which code for unbacked sizes is called again, each with a description."""


def eager(sample: Sample) -> Seen:
    """Run a call on concrete sizes, and return the observations of ``varied`` with the gradients."""
    return {**varied(sample), "gradients": gradients(sample)}


def varied(sample: Sample) -> Seen:
    """Run a call on concrete sizes, and return the result or error and the side effects as digests.

    ``exact`` is true if a second call returns the same bits.
    """
    seen = _called(sample)
    if not seen["passed"]:
        return seen
    second, _ = attempt(sample.call)
    exact = bool(seen["bits"] == digest(second))
    return {**seen, "exact": exact, "bits": seen["bits"] if exact else ""}


def _called(sample: Sample) -> Seen:
    first = call_and_watch(sample)
    seen = {"passed": not first.error, "effects": first.effects}
    if first.error:
        return {**seen, "error": first.error}
    return {**seen, "layout": layout(first.result), "exact": True, "bits": digest(first.result)}


def decomposed(sample: Sample) -> Seen:
    """Return the observations of ``varied`` with each operator run by its Python decomposition, from one call.

    If both sides return the same bits, determinism does not need to be checked.
    """
    return _called(through_decompositions(sample))


def decomposed_twice(sample: Sample) -> Seen:
    """Return the observations of ``varied`` with each operator run by its Python decomposition."""
    return varied(through_decompositions(sample))


def backed(sample: Sample) -> Seen:
    """Trace with backed symbols, and return make_fx's guards and torch.compile's results and recompilations.

    The compiled code runs at three sizes.
    """
    expected, error = attempt(sample.outcome)
    if error:
        return {"passed": False, "error": error, "eager": True}
    graph, error = attempt(lambda: traced(sample))
    if error:
        return {"passed": False, "error": f"make_fx: {error}"}
    environment = getattr(graph, "shape_env", None)
    seen: Seen = {"guards": [], "pinned": 0}
    if environment is not None:
        seen["guards"] = sorted({str(guard.expr) for guard in environment.guards})
        seen["pinned"] = sum(value.is_number for value in environment.replacements.values())
    compiled = Compiled(sample, "aot_eager", dynamic=True)
    result, error = attempt(lambda: sample.outcome(compiled))
    if error:
        return {**seen, "passed": False, "error": f"compile: {error}"}
    said = difference(result, expected, values=repeats(sample.outcome, expected))
    if said:
        return {**seen, "passed": False, "silent": True, "error": f"compile: {said}"}
    seen["other_layout"] = _other_layout(result, expected)
    steps = (1, 2) if sample.resizable else ()
    said, silent = unlike_when_larger(sample, lambda other: other.outcome(compiled), steps)
    if said:
        return {**seen, "passed": False, "silent": silent, "error": f"compiled, at other sizes: {said}"}
    return {**seen, "passed": True, "compilations": compiled.count}


def unbacked(sample: Sample) -> Seen:
    """Compile with every dimension of two or more unbacked, compare with eager, then call at other sizes."""
    expected, error = attempt(sample.outcome)
    if error:
        return {"passed": False, "error": error, "eager": True}
    compiled = Compiled(sample, sample.backend, others=ONE_BY_ONE)
    result, error = attempt(lambda: sample.outcome(compiled, unbacked=True))
    said = error or difference(result, expected, values=repeats(sample.outcome, expected))
    if said:
        return {"passed": False, "silent": not error, "error": said}
    apart, said = taken_apart(sample, expected, compiled)
    if said:
        return {"passed": False, "silent": True, "error": said}
    if apart is None:
        compiled = Compiled(sample, sample.backend)
        sample.outcome(compiled, unbacked=True)
    probes = at_other_sizes(sample, apart or compiled, _TOGETHER)
    return {"passed": True, "other_layout": _other_layout(result, expected), "probes": probes}


def generated(sample: Sample) -> Seen:
    """Compile by Inductor with unbacked sizes, compare with eager, then run the generated code at other sizes."""
    expected, error = attempt(sample.outcome)
    if error:
        return {"passed": False, "error": error, "eager": True}
    compiled = Compiled(sample, "inductor")
    result, error = attempt(lambda: sample.outcome(compiled, unbacked=True))
    said = error or difference(result, expected, values=repeats(sample.outcome, expected))
    if said:
        return {"passed": False, "silent": not error, "error": said}
    return {"passed": True, "probes": at_other_sizes(sample, compiled, _TOGETHER)}


def taken_apart(sample: Sample, expected: Any, whole: Compiled) -> tuple[Compiled | Alike | None, str]:
    """Compile with unbacked sizes for a backend that runs operators one by one, and compare with eager.

    The trace of ``whole`` is reused if it has code for one of `ONE_BY_ONE`. Return the compiled call and its difference
    from eager.

    A graph that calls a whole operator on real sizes is correct even if the trace assumed something wrong about them.
    Run one by one, with the decompositions that Inductor uses, the operators reveal a wrong default.

    The call is None if the code can't be compiled in this way, which PyTorch's own test does not require. A
    decomposition that also differs on concrete sizes has no fault with symbolic sizes.
    """
    values = repeats(sample.outcome, expected)
    for backend, how in ONE_BY_ONE.items():
        compiled = whole.alike(backend) or Compiled(sample, backend)
        result, error = attempt(lambda compiled=compiled: sample.outcome(compiled, unbacked=True))  # type: ignore[misc]
        if error:
            continue
        said = difference(result, expected, values=values)
        if not said:
            return compiled, ""
        if not difference(compiled.on_known_sizes(sample), expected, values=values):
            return compiled, f"{how}: {said}"
    return None, ""


def at_other_sizes(
    sample: Sample, compiled: Compiled | Alike, together: Mapping[str, Callable[[int], int]]
) -> dict[str, Deviation]:
    """Return `probe` with all sizes changed ``together``, then with those of one value at 1 and at 0.

    Eager rejects many calls with all sizes at 1, because one of them has to be 2 or larger than another.
    """
    seen = {name: probe(sample.resized(new_size), compiled) for name, new_size in together.items()}
    sizes = sample.sizes if len(sample.sizes) > 1 else []
    for special, size in itertools.product((1, 0), sizes):
        other = sample.resized(lambda n, size=size, special=special: special if n == size else n)  # type: ignore[misc]
        seen[f"{special} instead of {size}"] = probe(other, compiled)
    return seen


Deviation = dict[str, str]
"""Deviation of compiled code from eager, or empty. ``kind`` is again (it would be recompiled), loud (an error) or
silent. ``said`` is the description."""


def probe(sample: Sample, compiled: Compiled | Alike) -> Deviation:
    """Return the deviation of the compiled code at other sizes.

    It is not recompiled, which would take most of the time.
    """
    expected, eager_error = attempt(sample.outcome)
    with torch.compiler.set_stance(NOT_AGAIN):
        result, error = attempt(lambda: sample.outcome(compiled, unbacked=True))
    if error and eager_error:
        return {}
    if NOT_AGAIN in error:
        return {"kind": "again", "said": "it would be compiled anew for this size"}
    if error:
        return {"kind": "loud", "said": error}
    values = repeats(sample.outcome, expected)
    said = f"a result where eager raises {eager_error}" if eager_error else difference(result, expected, values=values)
    # A difference that a decomposition also has on concrete sizes is not caused by symbolic sizes.
    if not said or not difference(result, compiled.on_known_sizes(sample), values=values):
        return {}
    return {"kind": "silent", "said": said}


def _other_layout(result: Any, expected: Any) -> str:
    """Return the difference between the layouts of an equal result and eager's, or "" if there is none."""
    now, then = layout(result), layout(expected)
    return "" if now == then else f"the result is laid out as {now}, with eager as {then}"


def _calls_and_errors(operator: Any) -> list[Sample]:
    return [*samples_of(operator), *error_samples_of(operator)]


def _everything(operator: Any) -> list[Sample]:
    return [*_calls_and_errors(operator), *varied_samples_of(operator)]


def _resizable(subject: Any) -> list[Sample]:
    return [sample for sample in drawn(subject, "unbacked") if sample.resizable]


def _trained(subject: Any) -> list[Sample]:
    return [sample for sample in drawn(subject, BACKWARD) if sample.resizable]


def _calls(subject: Any) -> list[Sample]:
    return list(drawn(subject, "eager"))


PROTOCOLS: dict[str, tuple[Callable[[Any], list[Sample]], Callable[[Sample], Seen], bool]] = {
    "eager": (_calls_and_errors, eager, False),
    "varied": (varied_samples_of, varied, False),
    "decomposed": (_everything, decomposed, False),
    "decomposed-twice": (_everything, decomposed_twice, False),
    "registered": (samples_for_registered, registered, False),
    "backed": (samples_of, backed, True),
    "unbacked": (_resizable, unbacked, True),
    "backward": (_trained, unbacked, True),
    "dynamic": (_resizable, specialized, True),
    "inductor": (_resizable, generated, True),
    "modules eager": (_calls, eager, False),
    "modules unbacked": (_resizable, unbacked, True),
    "modules backward": (_trained, unbacked, True),
    "hops eager": (_calls, eager, False),
    "hops unbacked": (_resizable, unbacked, True),
    "calls eager": (_calls, eager, False),
    "calls unbacked": (_resizable, unbacked, True),
}
"""Functions that draw the samples of each protocol and that run one, and True if the protocol is too slow for all
samples."""
