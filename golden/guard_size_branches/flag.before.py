# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def split(a: Tensor, parts: int) -> Tensor:
    padded = a.size(0) % parts != 0
    if padded:
        missing = parts - a.size(0) % parts
        a = torch.nn.functional.pad(a, (0, missing))
    return a.view(parts, -1)


def observe():
    return [split(torch.arange(5.0), 2), split(torch.arange(6.0), 2)]
