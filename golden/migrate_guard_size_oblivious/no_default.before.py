# symfix-golden: path=torch/_refs/example.py
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import guard_size_oblivious


def f(a: Tensor, b: Tensor) -> Tensor:
    if guard_size_oblivious(a.size(0) < b.size(0)):
        return a
    if not guard_size_oblivious(a.stride(0) < b.stride(0)) and not guard_size_oblivious(
        a.numel() < b.numel()
    ):
        return a + 1
    return b


def observe():
    import torch

    return [f(torch.ones(n, 2), torch.ones(3, m)) for n, m in ((2, 5), (4, 5), (3, 2), (1, 2))]
