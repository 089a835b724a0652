# symfix-golden: path=torch/_decomp/example.py
import torch
from torch import Tensor


@torch._decomp.register_decomposition([])
def halves(x: Tensor, parts: list[Tensor]) -> list[int]:
    return [x.size(0) // 2, x.size(0), -x.t().size(0), len(parts), len(x.shape)]


def observe():
    return [halves(torch.ones(n, 2), [torch.ones(3)]) for n in (4, 0, 1)]
