# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def checked(a: Tensor, b: Tensor) -> Tensor:
    torch._check(a.size(0) == 1 or a.size(0) == b.size(0), lambda: "sizes differ")
    if a.size(1) != b.size(1):
        raise ValueError("sizes differ")
    assert a.numel() == b.numel() or a.numel() == 1
    return a
