# symfix-golden: path=torch/_inductor/fx_passes/example.py
from torch import Tensor

LIMIT = 32


def worth_it(mat1: Tensor, mat2: Tensor) -> bool:
    return mat1.dim() == 2 and mat1.shape[0] >= LIMIT and mat2.shape[1] < LIMIT


def observe():
    import torch

    return [worth_it(torch.ones(n, 3), torch.ones(3, m)) for n, m in ((4, 5), (64, 5), (64, 1))]
