# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def total(a: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_true

    several = guard_or_true(a.size(0) != 1)
    if several:
        a = a.sum(0, keepdim=True)
    return a.view(-1)


def observe():
    return [total(torch.arange(6.0).view(3, 2)), total(torch.arange(2.0).view(1, 2))]
