# symfix-golden: all-functions min-torch=2.6 drop-torchscript
import torch
from torch import Tensor
try:
    from torch.fx.experimental.symbolic_shapes import guard_or_false
except ImportError:  # torch < 2.8

    def guard_or_false(condition):
        return bool(condition)



def mean(x: Tensor) -> Tensor:
    if guard_or_false(x.numel() == 0):
        return x.new_zeros(())
    return x.sum() / x.numel()


def observe():
    return [mean(torch.ones(n, 2)) for n in (3, 0, 1)]
