# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def f(x: Tensor, sizes: list[int], k: int) -> Tensor:
    n = x.size(0)
    torch._check(n > 0 and x.size(1) % n == 0, lambda: "divided only by what is not 0")
    torch._check(n < 3 and x.shape[n] == 2, lambda: "looked up only where it is")
    return x
