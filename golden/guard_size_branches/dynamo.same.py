# symfix-golden: all-functions
import torch
from torch import Tensor


def product(x: Tensor, y: Tensor, *, names=()) -> Tensor:
    if x.shape == y.shape:
        return x * y
    return x * y.expand(x.shape)
