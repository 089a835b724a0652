# symfix-golden: path=torch/_inductor/example.py
import torch
from torch import Tensor


def mm(a: Tensor, b: Tensor) -> Tensor:
    if a.device.type == "cpu":
        if a.size(0) == 1 and b.size(-1) == 1:
            return torch.sum(a.squeeze(0) * b.squeeze(-1), dim=0, keepdim=True).unsqueeze(0)
    return a.matmul(b)


def observe():
    return [mm(torch.ones(1, 3), torch.ones(3, n)) for n in (1, 2)]
