# symfix-golden: path=torch/_inductor/example.py
import torch
from torch import Tensor


def mm(a: Tensor, b: Tensor) -> Tensor:
    if a.device.type == "cpu":
        if a.size(0) == 1 and b.size(-1) == 1:
            return torch.sum(a.squeeze(0) * b.squeeze(-1), dim=0, keepdim=True).unsqueeze(0)
    return a.matmul(b)


def observe():
    return [mm(torch.ones(n, 3), torch.ones(3, m)) for n, m in ((2, 4), (1, 1), (1, 2))]
