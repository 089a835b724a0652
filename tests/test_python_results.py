"""Tests of the result types of torch's functions and methods, compared with the installed torch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from symfix.python.analysis.types.must_types import ScalarType
from symfix.python.analysis.types.results import of_torch

OF_FUNCTIONS = ["asarray", "dsmm", "from_dlpack", "from_numpy", "frombuffer", "hsmm", "matrix_rank", "saddmm", "spmm"]
OF_METHODS = ["bfloat16", "bool", "byte", "cdouble", "cfloat", "char", "double", "float", "half", "int", "ipu", "long"]
OF_METHODS += ["mtia", "new", "new_tensor", "share_memory_", "short", "to_sparse_coo", "xpu"]
"""Methods and functions that return one tensor, although no schema declares it."""
TENSOR = torch.ones(2, 3)


def names(place: object) -> list[str]:
    called = [name for name in dir(place) if not name.startswith("_") and callable(getattr(place, name))]
    return [name for name in called if not isinstance(getattr(place, name), type)]


def results(name: str) -> set[str] | None:
    """Return the results of the overloads that take a tensor, or None if torch has no schema."""
    packet = getattr(torch.ops.aten, name, None)
    if packet is None:
        return None
    schemas = [getattr(packet, overload)._schema for overload in packet.overloads()]
    asked = [one for one in schemas if not any(a.is_out for a in one.arguments)]
    # Overloads for the lists and numbers of TorchScript have the same name.
    asked = [one for one in asked if one.arguments and str(one.arguments[0].type) == "Tensor"] or asked
    return {", ".join(str(result.type) for result in one.returns) for one in asked}


@pytest.mark.parametrize(
    ("place", "without"), [(torch, OF_FUNCTIONS), (torch.Tensor, OF_METHODS)], ids=["functions", "methods"]
)
def test_one_tensor_is_said_of_nothing_else(place: object, without: list[str]) -> None:
    said = [name for name in names(place) if of_torch(name, 2, named=True) is ScalarType.TENSOR]
    assert len(said) > 300
    assert {name for name in said if results(name) not in (None, {"Tensor"})} == set()
    assert [name for name in said if results(name) is None] == without


@pytest.mark.parametrize("place", [torch, torch.Tensor], ids=["functions", "methods"])
def test_several_tensors_are_said_of_nothing_else(place: object) -> None:
    said = {name for name in names(place) if of_torch(name, 2, named=True) is ScalarType.TENSORS}
    assert len(said) > 20
    neither = {name for name in said if any("Tensor" not in one for one in results(name) or ())}
    assert neither == set()


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.max(TENSOR),
        lambda: torch.median(TENSOR),
        lambda: torch.nonzero(TENSOR),
        lambda: torch.unique(TENSOR),
        lambda: torch.atleast_3d(TENSOR),
        lambda: torch.where(TENSOR > 0, TENSOR, 0),
        lambda: TENSOR.min(),
        lambda: TENSOR.unique_consecutive(),
    ],
)
def test_fewer_arguments_give_one_tensor(call: Callable[[], object]) -> None:
    assert isinstance(call(), torch.Tensor)
    called = next(name for name in call.__code__.co_names if name not in ("torch", "TENSOR"))
    assert of_torch(called, 3 if called == "where" else 1, named=False) is ScalarType.TENSOR


@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.where(TENSOR > 0),
        lambda: torch.max(TENSOR, 0),
        lambda: torch.unique(TENSOR, return_counts=True),
        lambda: torch.nonzero(TENSOR, as_tuple=True),
        lambda: torch.atleast_1d(TENSOR, TENSOR),
    ],
)
def test_others_give_several(call: Callable[[], object]) -> None:
    assert isinstance(call(), tuple)
