"""Protocols that trace one sample with symbolic sizes as PyTorch's own tests do, and let errors propagate."""

from __future__ import annotations

import copy
from typing import Any

import torch

from ..samples.autograd_protocol import Trained
from ..samples.samples import Sample, attempt, difference
from .compiled_call import Compiled
from .symbolic_trace import trace_unless_alike

_last: dict[tuple[str, bool | None], Compiled] = {}
"""Code of the last sample by the arguments of its compilation."""


class Unlike(Exception):
    """Error raised when the traced code and eager give different results. ``str()`` is the difference."""


class NoSample(Exception):
    """Error raised when the sample itself is unusable. ``str()`` is the reason."""


def unbacked(sample: Sample) -> dict[str, Any] | None:
    """Run PyTorch's test of unbacked sizes (every dimension of two or more), and compare the result.

    Return None if no dimension can be marked.
    """
    if not sample.resizable:
        return None
    expected = eager_result(sample)
    compare(sample, sample.call(_compiled(sample, sample.backend), unbacked=True), expected)
    return {}


def backward(sample: Sample) -> dict[str, Any] | None:
    """Run `unbacked` with the gradients, or return None if there is nothing to mark or to train.

    Raises NoSample if the forward pass alone fails.
    """
    assert isinstance(sample, Trained)
    if not sample.resizable or attempt(sample.call)[1]:
        return None
    try:
        return unbacked(sample)
    except Exception:
        _, error = attempt(lambda: unbacked(sample.forward()))
        if error:
            raise NoSample(f"its forward pass fails: {error}") from None
        raise


def backed(sample: Sample) -> dict[str, Any] | None:
    """Run ``make_fx`` and ``torch.compile`` with backed symbols, and compare with eager."""
    expected = eager_result(sample)
    trace_unless_alike(sample)
    compare(sample, sample.call(_compiled(sample, "aot_eager", dynamic=True)), expected)
    return {}


def _compiled(sample: Sample, backend: str, dynamic: bool | None = None) -> Compiled:
    """Return the code of the last sample if dynamo would make the same for this one, else code not yet made."""
    last = _last.get((backend, dynamic))
    if last is None or not last.accepts(sample):
        last = _last[backend, dynamic] = Compiled(sample, backend, dynamic)
    return last


def eager_result(sample: Sample) -> Any:
    """Return the result of a sample in eager. Raises NoSample if there is none."""
    try:
        copy.deepcopy(sample.inputs())
    except Exception as error:
        raise NoSample(f"its samples can't be copied: {type(error).__name__}: {error}") from None
    try:
        return sample.call()
    except Exception as error:
        raise NoSample(f"eager raises {type(error).__name__}: {error}") from None


def compare(sample: Sample, result: Any, expected: Any) -> None:
    """Compare a result with eager's. Raises Unlike."""
    said = difference(result, expected)
    if said and (difference(result, expected, values=False) or _defined(sample, expected)):
        raise Unlike(said)


def _defined(sample: Sample, expected: Any) -> bool:
    """Return whether eager returns the same values again with uninitialized memory filled."""
    if difference(sample.call(), expected):
        return False
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        return not difference(sample.call(), expected)
    finally:
        torch.use_deterministic_algorithms(False)
