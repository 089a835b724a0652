# symfix-golden: path=torch/_refs/example.py
from __future__ import annotations

import torch
from torch import Tensor


def parenthesised(a: Tensor) -> Tensor:
    if (a.size(0) == 1) and a.requires_grad:
        return a.squeeze(0)
    return a


def commented(a: Tensor, b: Tensor) -> Tensor:
    if (
        a.dim() == 2  # a matrix
        # that has one row
        and a.size(0) == 1
        and not (b.size(0) == 1)
    ):
        return a.expand(b.size(0), -1)
    return a


def one_line(a: Tensor) -> Tensor:
    if a.shape[0] == 0: return a
    return a + 1


def branches(a: Tensor) -> int:
    if a.dim() == 0:
        return 0
    elif a.numel() == 0:
        return 1
    return 2


def chosen(a: Tensor, n: int) -> Tensor:
    return a.new_zeros(n) if a.size(-1) == 0 else a


def named(a: Tensor) -> Tensor:
    if (n := a.size(0)) == 1:
        return a * n
    return a


def filtered(a: Tensor) -> list[int]:
    return [d for d in range(a.dim()) if a.shape[d] != 1]


def anything(*tensors: Tensor) -> bool:
    sizes = [t.numel() for t in tensors]
    return any(size == 0 for size in sizes)


def truthy(a: Tensor) -> Tensor:
    return a if a.numel() else a.new_ones(1)


def special(a: Tensor) -> Tensor:
    if a.shape[0] in (0, 1):
        return a
    return a.flip(0)


def observe():
    a, b, empty = torch.arange(3.0).view(1, 3), torch.ones(2, 3), torch.ones(0, 2)
    return [
        [parenthesised(t) for t in (b, a)],
        [commented(b, a), commented(a, b)],
        [one_line(t) for t in (b, empty, a)],
        [branches(t) for t in (b, empty, b.sum())],
        [chosen(t, 2) for t in (b, empty.T)],
        [named(t) for t in (b, a)],
        [filtered(t) for t in (b, a)],
        [anything(b, a), anything(a, empty)],
        [truthy(t) for t in (b, empty)],
        [special(t) for t in (b, a, empty)],
    ]
