# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def qr(a: Tensor) -> Tensor:
    m, n = a.shape[-2:]
    k = torch.sym_min(m, n)
    return a.new_empty(k, torch.sym_max(n, 1)).fill_(0)


def diagonal(a: Tensor, offset: int = 0) -> int:
    """Length of a diagonal."""
    return torch.sym_max(torch.sym_min(a.size(0), a.size(1) - offset), 0)


def helper(rows, columns):
    return torch.sym_min(rows, columns)


def rank(a: Tensor) -> int:
    return helper(*a.shape[:1], 1) + helper(a.size(0), a.size(1))


def observe():
    a = torch.ones(2, 3)
    return [qr(a), qr(a.t()), qr(a[:1]), diagonal(a, 1), diagonal(a, 7), rank(a), rank(a[:0]), helper(2, 3)]
