# symfix-golden: path=torch/_refs/example.py
import math

import torch
from torch import Tensor


def chunks(x: Tensor, k: int) -> list[int]:
    n = x.size(0)
    return [math.ceil(n / k), math.ceil((n - 1) / 2) + 1, math.floor(n / 4), int(x.numel() / n)]


def mean(x: Tensor) -> float:
    return 1.0 / float(x.numel())


def observe():
    return [[chunks(torch.ones(n, 3), k), mean(torch.ones(n, 3))] for n, k in ((4, 2), (7, 3), (1, 2))]
