# symfix-golden: all-functions drop-torchscript
from torch import Tensor


def smaller(x: Tensor) -> int:
    return min(x.size(0), 8)


def observe():
    import torch

    return [smaller(torch.ones(n)) for n in (2, 12, 1)]
