# symfix-golden: path=torch/_decomp/example.py
import torch
from torch import Tensor


@torch._decomp.register_decomposition([])
def halves(x: Tensor, parts: list[Tensor]) -> list[int]:
    return [len(x) // 2, len(  x  ), -len(x.t()), len(parts), len(x.shape)]


def observe():
    return [halves(torch.ones(n, 2), [torch.ones(3)]) for n in (4, 0, 1)]
