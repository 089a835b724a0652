# symfix-golden: path=torch/_inductor/example.py
import torch
from torch import Tensor


def mm(a: Tensor, b: Tensor) -> Tensor:
    if a.device.type == "cpu":
        if torch.fx.experimental.symbolic_shapes.guard_size_oblivious(a.size(0) == 1):
            return (a.t() * b).sum(dim=0, keepdim=True)
    return a.matmul(b)


def observe():
    import torch.fx.experimental.symbolic_shapes

    return mm(torch.ones(1, 2), torch.ones(2, 2))
