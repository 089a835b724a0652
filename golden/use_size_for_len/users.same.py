import torch
from torch import Tensor


def rows(x: Tensor) -> int:
    return len(x)


@torch.library.custom_op("golden_lengths::f", mutates_args=())
def f(x: Tensor) -> Tensor:
    return x.new_empty(len(x))
