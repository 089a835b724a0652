# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def scaled(a: Tensor, b: float) -> Tensor:
    if a.size(0) == 1:
        return a
    if b == 0.0:
        return torch.zeros_like(a)
    return a * b
