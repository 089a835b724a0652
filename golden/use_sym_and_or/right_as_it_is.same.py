# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def f(x: Tensor, k: int, dim: int) -> Tensor:
    torch._check(x.dim() == 3 and x.size(0) != 0, lambda: "the last operand is forced by nobody")
    torch._check(x.dtype == torch.bool or x.layout == torch.strided, lambda: "concrete")
    torch._check(isinstance(k, int) and k > 0 and dim > 0, lambda: "concrete")
    torch._check(all(d > 0 for d in (k, dim)), lambda: "concrete")
    return x
