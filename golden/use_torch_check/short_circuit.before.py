# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def second_dimension(x: Tensor, y: Tensor):
    if x.size(0) != 1 or y.size(1) != 1:  # unsafe: a vector raises IndexError
        raise ValueError("sizes")
    return "passed"


def rank_found(x, y):
    n, m = x.shape
    assert y.dim() == 2
    if x.size(1) != n or y.size(1) != m or n == 0:
        raise ValueError(f"not square: {n} {m}")
    return "passed"


def rank_in_front(x, y):
    if x.dim() != 2 or x.size(1) != y.size(0) or x.size(0) == 0:
        raise ValueError("no matrices")
    return "passed"


def counted(x, y):
    for d in range(1, x.dim()):
        if x.size(0) == 0 or x.size(d) == 0:
            raise ValueError("empty")
    return "passed"


def every_pair(x, y):
    if any(a != b for a, b in zip(x.shape, y.shape)):
        raise ValueError("shapes")
    return "passed"


def observe():
    found = []
    for f in (second_dimension, rank_found, rank_in_front, counted, every_pair):
        for x, y in (
            ((2, 2), (3, 2)), ((1, 3), (3, 1)), ((2, 3), (2, 3)), ((1, 1), (1, 1)), ((2, 3), (3, 2)), ((0, 2), (2, 0)),
            ((3, 3), (3, 1)), ((2,), (2, 3)),
        ):
            try:
                found.append(f(torch.ones(x), torch.ones(y)))
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
    return found
