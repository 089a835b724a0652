# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def stack(tensors: list[Tensor]) -> Tensor:
    entry = tensors[0].shape
    for i in range(1, len(tensors)):
        assert tensors[i].shape == entry, (
            f"stack expects each tensor to be equal size, but got {entry} at entry 0 "
            f"and {tensors[i].shape} at entry {i}"
        )
    return torch.stack(tensors)


def even(x: Tensor) -> Tensor:
    n = x.size(0)
    if n % 2 != 0:
        raise AssertionError(f"dimension must be even, but is {n}")
    assert 0 < n < 100
    return x[: n // 2]


def observe():
    found = []
    for f, given in (
        (stack, [torch.ones(2, 3), torch.ones(2, 3)]),
        (stack, [torch.ones(2, 3), torch.ones(4, 3)]),
        (stack, [torch.ones(1)]),
        (even, torch.ones(4, 3)),
        (even, torch.ones(5)),
        (even, torch.ones(1)),
    ):
        try:
            found.append(f(given))
        except (AssertionError, RuntimeError) as error:
            found.append(str(error))
    return found
