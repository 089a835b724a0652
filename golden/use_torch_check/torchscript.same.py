# symfix-golden: all-functions
import torch
from torch import Tensor


def rows(x: Tensor, y: Tensor) -> Tensor:
    if x.shape[0] != y.shape[0]:
        raise ValueError("rows differ")
    return x + y
