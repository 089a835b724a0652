# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def f(x: Tensor) -> Tensor:
    torch._check(not any(d == 0 for d in x.shape), lambda: "empty")
    return x
