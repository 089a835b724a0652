# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def empty(a: Tensor) -> Tensor:
    if a.device.type == "cpu":
        n = 1 if a.numel() == 0 else 2
    else:
        n = 3
    return a.new_empty(n)
