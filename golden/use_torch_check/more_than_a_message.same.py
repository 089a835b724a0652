# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def split(a: Tensor, parts: int) -> Tensor:
    if a.size(0) % parts != 0:
        rest = a.size(0) % parts
        raise ValueError(f"{rest} elements are left")
    return a.view(parts, -1)
