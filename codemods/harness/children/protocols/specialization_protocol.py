"""Protocol of specialization: a dimension that is marked dynamic must not become a constant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch._dynamo.decorators import mark_dynamic
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError

from ..recorders.frame_capture import specializations_kept
from ..samples.fixed_sizes import at_other_sizes, fixed_dimensions, pinned_dimensions
from ..samples.samples import SEED, Dimension, Sample, attempt, difference, repeats, seed, tensors_in
from .compiled_call import Compiled
from .unbacked_protocol import compare, eager_result

_STEPS = (0, 1, 2, 3, 5)
"""Increases of all sizes at which compiled code is called."""


class Coincidence(ConstraintViolationError):
    """A dimension became a constant at its size only, which equals another number of the call."""


def dynamic(sample: Sample) -> dict[str, Any] | None:
    """Compile with every dimension of two or more marked dynamic, and compare with eager.

    A dimension whose size the call itself fixes is left unmarked; ``fixed`` counts them. Return None if no dimension
    can be marked. A ConstraintViolationError is raised with the frames of the guard that made a constant, from a
    `Coincidence` if each constant is one.
    """
    if not sample.resizable:
        return None
    expected = eager_result(sample)
    try:
        free, _, (result, _) = _compiled(sample)
    except ConstraintViolationError as error:
        pinned = pinned_dimensions(sample, str(error))
        if pinned and all(any(_is_free(other, one) for other in at_other_sizes(sample, one, pinned)) for one in pinned):
            raise Coincidence(*error.args) from error
        raise
    compare(sample, result, expected)
    fixed = sample.marks - free.marks
    return {"fixed": fixed} if fixed else {}


def specialized(sample: Sample) -> dict[str, Any]:
    """Compile as `dynamic` does, compare with eager at five sizes, and count the compilations."""
    _, error = attempt(sample.outcome)
    if error:
        return {"passed": False, "error": error, "eager": True}
    found, error = attempt(lambda: _compiled(sample))
    if error:
        return {"passed": False, "error": error}
    free, compiled, _ = found
    said, silent = unlike_when_larger(free, lambda other: _outcome(other, compiled), _STEPS)
    if said:
        return {"passed": False, "silent": silent, "error": said}
    return {"passed": True, "compilations": compiled.count}


def unlike_when_larger(sample: Sample, run: Callable[[Sample], Any], steps: Iterable[int]) -> tuple[str, bool]:
    """Return the first difference or error of ``run`` with all sizes larger by a step, and True for a difference.

    Sizes that eager refuses are left out. Without a difference the text is empty.
    """
    for step in steps:
        other = sample.resized(lambda size, step=step: size + step)  # type: ignore[misc]
        expected, error = attempt(other.outcome)
        if error:
            continue
        result, error = attempt(lambda other=other: run(other))  # type: ignore[misc]
        said = error or difference(result, expected, values=repeats(other.outcome, expected))
        if said:
            return said, not error
    return "", False


def _compiled(sample: Sample) -> tuple[Sample, Compiled, tuple[Any, list[Any]]]:
    """Compile a call, and return it without marks on fixed dimensions, its code and its outcome."""
    fixed: frozenset[Dimension] = frozenset()
    while True:
        free = sample.unmarked(fixed)
        compiled = Compiled(free, sample.backend)
        try:
            with specializations_kept():
                return free, compiled, _outcome(free, compiled)
        except ConstraintViolationError as error:
            more = fixed_dimensions(sample, pinned_dimensions(sample, str(error))) - fixed
            if not more:
                raise
            fixed |= more


def _is_free(sample: Sample, dimension: Dimension) -> bool:
    """Return whether a compilation leaves a marked dimension dynamic."""
    try:
        free, _, _ = _compiled(sample)
    except ConstraintViolationError as error:
        return dimension not in pinned_dimensions(sample, str(error))
    except Exception:
        return False
    return free.unmarked([dimension]).marks < free.marks


def _outcome(sample: Sample, compiled: Compiled) -> tuple[Any, list[Any]]:
    args, kwargs = sample.marked_by(mark_dynamic)
    seed(SEED)
    return compiled(*args, **kwargs), tensors_in((args, kwargs))
