# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def kept(x: Tensor, y: Tensor) -> list[int]:
    n = x.size(0)
    rows = y.size(0)
    if n > rows:
        n = rows
    width = x.size(1)
    if 2 > width: width = 2
    least = width if width <= rows else rows
    most = rows if n <= rows else n
    return [n, width, least, most, -(n if n < rows else rows)]


def observe():
    return [kept(torch.ones(n, m), torch.ones(k)) for m in (5, 2, 1) for k in (3, 4, 0) for n in (4, 2, 0, 1)]
