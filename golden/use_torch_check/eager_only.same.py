# symfix-golden: all-functions
import torch
from torch import Tensor


def rows(x: Tensor, y: Tensor, *, names=()) -> Tensor:
    if not torch.compiler.is_compiling():
        if x.shape[0] != y.shape[0]:
            raise ValueError("rows differ")
    if torch.compiler.is_compiling():
        torch._check(x.shape[1] == y.shape[1], lambda: "columns differ")
    else:
        assert x.shape[1] == y.shape[1], f"{x.shape[1]} columns"
    return x + y
