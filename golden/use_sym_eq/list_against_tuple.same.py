# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def f(a: Tensor) -> Tensor:
    torch._check(a.shape != [1, 2], lambda: "never equal")
    torch._check(not a.shape == [1, 2], lambda: "never equal")
    torch._check(list(a.shape) == a.shape or a.dim() == 2, lambda: "never equal")
    return a
