# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor
from torch.types import Number


def pow(a: Tensor, b: Number) -> Tensor:
    if b == 1.0:
        return a.clone()
    elif b == 0.5:
        return torch.sqrt(a)
    return torch.pow(a, b)


def observe():
    return [pow(torch.arange(3.0), b) for b in (3.0, 1.0, 0.5, 2)]
