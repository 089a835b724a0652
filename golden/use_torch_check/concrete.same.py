# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def f(x: Tensor, dim: int) -> Tensor:
    if x.dim() != 2:
        raise ValueError("not a matrix")
    assert x.dtype == torch.float, "not float"
    assert dim in (0, 1)
    return x
