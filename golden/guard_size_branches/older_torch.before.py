# symfix-golden: all-functions min-torch=2.6 drop-torchscript
import torch
from torch import Tensor


def mean(x: Tensor) -> Tensor:
    if x.numel() == 0:
        return x.new_zeros(())
    return x.sum() / x.numel()


def observe():
    return [mean(torch.ones(n, 2)) for n in (3, 0, 1)]
