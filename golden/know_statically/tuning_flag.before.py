# symfix-golden: path=torch/_inductor/example.py
import torch
from torch import Tensor
from torch._inductor import config


def bmm(a: Tensor, b: Tensor) -> Tensor:
    if config.coordinate_descent_tuning:
        if a.shape[1] == 1 or b.shape[2] == 1:
            return (a.unsqueeze(-1) * b.unsqueeze(1)).sum(dim=2)
    return torch.bmm(a, b)


def observe():
    return [bmm(torch.ones(2, n, 3), torch.ones(2, 3, m)) for n, m in ((5, 4), (1, 4), (5, 1))]
