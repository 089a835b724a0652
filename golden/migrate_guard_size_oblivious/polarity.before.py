# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import guard_size_oblivious


def squeeze(a: Tensor) -> Tensor:
    dims = tuple(d for d in range(a.dim()) if guard_size_oblivious(a.shape[d] == 1))
    if guard_size_oblivious(a.numel() != 0) and len(dims) == 0:
        return a
    return a.squeeze(dims)


def observe():
    return [squeeze(torch.ones(s)) for s in ((2, 3), (2, 1), (0, 1))]
