# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def f(a: Tensor, b: Tensor, other) -> Tensor:
    torch._check(a.size(0) == b.size(0), lambda: "one size is compared as it is")
    torch._check(a.shape == other, lambda: "perhaps no shape")
    if a.shape == b.shape:
        return a
    return a + b
