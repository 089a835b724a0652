# symfix-golden: path=torch/_refs/example.py
# What a name holds may have fewer places than the tensor was found to have dimensions.
import torch
from torch import Tensor


def product(x: Tensor, sizes: list[int], k: int) -> Tensor:
    torch._check(x.dim() == 2, lambda: "x must be a matrix")
    kept = x.shape
    if k:
        kept = sizes
    torch._check(k == kept[0] and k == kept[1], lambda: "does not fit")
    return x
