"""Calls through torch's Python decompositions, which an eager call never runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import decomposition_table
from torch.utils._python_dispatch import TorchDispatchMode

from ..samples.samples import Sample


class _Decomposed(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Mode that runs each operator by its decomposition, if it has one. Within it, the operator itself runs."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._open: set[Any] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        decomposition = decomposition_table.get(func)
        if decomposition is None or func in self._open:
            return func(*args, **(kwargs or {}))
        self._open.add(func)
        try:
            with self:
                result = decomposition(*args, **(kwargs or {}))
        finally:
            self._open.discard(func)
        return func(*args, **(kwargs or {})) if result is NotImplemented else result


def through_decompositions(sample: Sample) -> Sample:
    """Return the same call with each operator replaced by its decomposition."""
    args, kwargs = sample.inputs()
    return Sample(_decomposed(sample.function), args, kwargs)


def _decomposed(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        with torch.no_grad(), _Decomposed():
            return function(*args, **kwargs)

    return call
