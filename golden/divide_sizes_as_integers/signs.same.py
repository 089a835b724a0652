import math

import torch
from torch import Tensor


def f(x: Tensor, y: Tensor, k: int):
    return (
        math.ceil(x.size(0) / -k),
        math.ceil(x.size(0) / (k - 1)),
        math.ceil(x.size(0) / 0.5),
        int((x.size(0) - y.size(0)) / 2),
        int((x.size(0) + 1) // 2),
    )
