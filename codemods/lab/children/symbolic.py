"""One sample traced with symbolic sizes as PyTorch's own tests do, and compared with eager; errors come out whole."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

from .compiling import compile_anew
from .protocols import traced
from .samples import Sample, attempt, difference
from .training import Trained


class Unlike(Exception):
    """The traced code gives another result than eager; ``str()`` says which."""


class NoSample(Exception):
    """The sample itself is of no use; ``str()`` says why."""


def unbacked(sample: Sample) -> dict[str, Any] | None:
    """PyTorch's test of unbacked sizes (every dimension of two or more), then the comparison. None: nothing to mark."""
    if not sample.resizable:
        return None
    expected = _eager(sample)
    compile_anew()
    compiled = torch.compile(_plain(sample), backend=sample.backend, fullgraph=True)
    _compare(sample, sample.call(compiled, unbacked=True), expected)
    return {}


def backward(sample: Sample) -> dict[str, Any] | None:
    """`unbacked`, with the gradients; NoSample where the forward pass fails. None: nothing to mark or to train."""
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
    """``make_fx`` and ``torch.compile`` with symbols that have a hint, then the comparison."""
    expected = _eager(sample)
    traced(sample)
    compile_anew()
    compiled = torch.compile(_plain(sample), backend="aot_eager", fullgraph=True, dynamic=True)
    _compare(sample, sample.call(compiled), expected)
    return {}


PROTOCOLS: dict[str, Callable[[Sample], dict[str, Any] | None]] = {
    "unbacked": unbacked,
    "backed": backed,
    "backward": backward,
}


def _plain(sample: Sample) -> Callable[..., Any]:
    function = sample.function
    return lambda *args, **kwargs: function(*args, **kwargs)


def _eager(sample: Sample) -> Any:
    try:
        copy.deepcopy(sample.inputs())
    except Exception as error:
        raise NoSample(f"its samples can't be copied: {type(error).__name__}: {error}") from None
    try:
        return sample.call()
    except Exception as error:
        raise NoSample(f"eager raises {type(error).__name__}: {error}") from None


def _compare(sample: Sample, result: Any, expected: Any) -> None:
    said = difference(result, expected)
    if said and (difference(result, expected, values=False) or _defined(sample, expected)):
        raise Unlike(said)


def _defined(sample: Sample, expected: Any) -> bool:
    """Whether eager gives these very values again when memory that nobody wrote is filled."""
    if difference(sample.call(), expected):
        return False
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        return not difference(sample.call(), expected)
    finally:
        torch.use_deterministic_algorithms(False)
