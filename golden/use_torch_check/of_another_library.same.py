# symfix-golden: path=accounts/loading.py
import numpy as np
import torch
from torch import Tensor


def read(x: Tensor, shape: tuple, strict: bool = True) -> Tensor:
    assert x.shape[0] == np.prod(shape) or not strict
    count = np.prod(shape)
    if x.shape[0] != 0 and x.shape[0] != count:
        raise ValueError("numpy's bool is none to a check")
    return x


def some(x: Tensor) -> Tensor:
    if np.size(x.numpy()) == 0:
        raise ValueError("numpy's size() is a function")
    return x


def split(experts, x: Tensor, strict: bool = True) -> Tensor:
    valid = ~(experts == 0)
    empty = experts.sum()
    if strict:
        assert valid.sum() == x.shape[0] - empty
    return x


def observe() -> list[Tensor]:
    return [read(torch.ones(6), (2, 3)), read(torch.ones(0), (2, 3), strict=False), split(torch.ones(2), torch.ones(4))]
