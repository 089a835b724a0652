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

    return [mm(torch.ones(n, 2), torch.ones(2, m)) for n, m in ((3, 4), (1, 2), (1, 3))]
