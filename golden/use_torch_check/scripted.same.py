# symfix-golden: path=torch/nn/functional.py
import torch
from torch import Tensor


def f(x: Tensor, y: Tensor) -> Tensor:
    if x.size(0) != y.size(0):
        raise ValueError("sizes differ")
    return x
