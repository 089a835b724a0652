# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def kept(x: Tensor, y: Tensor) -> list[int]:
    n = x.size(0)
    rows = y.size(0)
    n = torch.sym_min(n, rows)
    width = x.size(1)
    width = torch.sym_max(width, 2)
    least = torch.sym_min(width, rows)
    most = torch.sym_max(n, rows)
    return [n, width, least, most, -(torch.sym_min(n, rows))]


def observe():
    return [kept(torch.ones(n, m), torch.ones(k)) for m in (5, 2, 1) for k in (3, 4, 0) for n in (4, 2, 0, 1)]
