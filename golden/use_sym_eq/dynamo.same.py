# symfix-golden: all-functions
import torch
from torch import Tensor


def product(x: Tensor, y: Tensor, *, names=()) -> Tensor:
    torch._check(x.shape == y.shape, lambda: "shapes differ")
    return x * y
