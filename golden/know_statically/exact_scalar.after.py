# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor
from torch.types import Number


def pow(a: Tensor, b: Number) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    if statically_known_true(b == 1.0):
        return a.clone()
    elif statically_known_true(b == 0.5):
        return torch.sqrt(a)
    return torch.pow(a, b)


def observe():
    return [pow(torch.arange(3.0), b) for b in (3.0, 1.0, 0.5, 2)]
