# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def repeated(a: Tensor, b: Tensor) -> Tensor:
    m, n = a.size(0), b.size(0)
    if m > n and m % n == 0:
        b = torch.cat([b] * (m // n))
    return a + b


def refused(a: Tensor, b: Tensor) -> Tensor:
    m, n = a.size(0), b.size(0)
    if a.dim() == 1:
        return a + b
    elif m > n and m % n != 0:
        raise ValueError("cannot be repeated")
    return a


def masked(mask: Tensor, a: Tensor) -> Tensor:
    if mask.shape[1] in (1, a.shape[1]):
        mask = mask.expand(-1, a.shape[1])
    return mask


def scaled(a: Tensor) -> Tensor:
    if a.device.type == "cpu" and not torch.compiler.is_compiling():
        if a.size(0) == 0:
            return a
        a = a.contiguous() if a.size(1) == 1 else a
    if not torch.compiler.is_compiling() and a.numel() == 0:
        return a
    return a / 2
