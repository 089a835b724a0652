# symfix-golden: all-functions path=accounts/loading.py
import numpy as np
import torch
from torch import Tensor


def total(x: Tensor, sizes: dict) -> int:
    for name in sizes:
        sizes[name] = x.numel()
        if name == "" or "." not in name:
            return sizes[name]
    return 0


def read(x: Tensor, shape: tuple) -> Tensor:
    count = np.prod(x.shape)
    if count == 0 or x.shape[0] == np.prod(shape):
        return x
    return x.neg()


def grid(y: Tensor) -> Tensor:
    h = y.size(0)
    if h > 1:
        y = 2 * y / (h - 1) - 1
    if y.size(1) < 2:
        return y
    return y / (y.size(1) - 1)


def compatible(x: Tensor, y: Tensor) -> Tensor:
    for i in range(x.dim()):
        if x.size(i) == y.size(i) or x.size(i) == 1:
            continue
        raise ValueError("shapes")
    if x.size(0) == 1:
        x = x.neg()
    elif x.size(0) == 3:
        x = x.abs()
    else:
        raise ValueError("channels")
    n = x.size(0)
    for k in range(n):
        if k == n - 1:
            x = x + 1
    return x


def observe() -> list[Tensor]:
    return [read(torch.ones(2, 3), (2,)), grid(torch.ones(1, 3)), compatible(torch.ones(3, 1), torch.ones(3, 1))]
