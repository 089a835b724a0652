# symfix-golden: path=torch/_inductor/fx_passes/example.py
from torch import Tensor

LIMIT = 32


def product(mat1: Tensor, mat2: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import statically_known_true

    if mat1.dim() == 2 and statically_known_true(mat1.shape[0] >= LIMIT) and statically_known_true(mat2.shape[1] < LIMIT):
        return (mat2.t() @ mat1.t()).t()
    return mat1 @ mat2


def observe():
    import torch

    return [product(torch.ones(n, 3), torch.ones(3, m)) for n, m in ((4, 5), (64, 5), (64, 1))]
