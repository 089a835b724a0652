"""Target given on the command line: a model without constructor arguments, and the shapes of its inputs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from .export_targets import BadTarget, ValidatedTarget, load, read


def described(words: str, folder: str, description: Mapping[str, Any]) -> ValidatedTarget:
    """Build the `ValidatedTarget` of a target: ``shapes`` are sizes and dtype by parameter, ``dynamic`` as in a target.

    Raises BadTarget.
    """
    found: Any = load(words, folder)
    model = found() if inspect.isclass(found) else found
    if not callable(model):
        raise BadTarget(f"{words}: a {type(model).__name__} is no model")
    given = {name: _tensor(name, *one) for name, one in description["shapes"].items()}
    signature = inspect.signature(model.forward if isinstance(model, torch.nn.Module) else model)
    try:
        call = signature.bind(**given)
    except TypeError as error:
        raise BadTarget(f"--shape does not fit {words}: {error}") from None
    dynamic = {name: {int(at): size for at, size in one} for name, one in description["dynamic"].items()}
    return read({"model": model, "args": call.args, "kwargs": call.kwargs, "dynamic": dynamic}, fixed=True)


def _tensor(name: str, sizes: Sequence[int], kind: str) -> Any:
    dtype = getattr(torch, kind, None)
    if not isinstance(dtype, torch.dtype):
        raise BadTarget(f"--shape of {name!r}: torch has no dtype {kind!r}")
    if dtype == torch.bool:
        return torch.randn(sizes) > 0
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(sizes).to(dtype)
    # As indices these are valid for any dimension with two entries.
    return torch.randint(0, 2, tuple(sizes), dtype=dtype)
