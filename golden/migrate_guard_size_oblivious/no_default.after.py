# symfix-golden: path=torch/_refs/example.py
from torch import Tensor


def f(a: Tensor, b: Tensor) -> Tensor:
    if a.size(0) < b.size(0):
        return a
    if not (a.stride(0) < b.stride(0)) and not (
        a.numel() < b.numel()
    ):
        return a + 1
    return b


def observe():
    import torch

    return [f(torch.ones(n, 2), torch.ones(3, m)) for n, m in ((2, 5), (4, 5), (3, 2), (1, 2))]
