# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


class ShapeError(Exception):
    pass


def f(x: Tensor, y: Tensor) -> Tensor:
    if x.size(0) == 0:
        raise ShapeError("empty")
    if x.size(0) == 1:
        raise ValueError("one", x.size(0))
    if x.size(0) == y.size(0):
        return x
    elif x.size(0) == 2:
        raise ValueError("two")
    if x.size(1) == 1:
        raise ValueError("one") from None
    if x.size(1) == 2:
        raise ValueError("two")
    else:
        x = x + y
    return x
