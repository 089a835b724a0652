# symfix-golden: all-functions
import torch
from torch import Tensor


def rows(x: Tensor, y: Tensor) -> Tensor:
    assert x.shape[0] == y.shape[0]
    return x + y
