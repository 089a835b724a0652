# symfix-golden: path=torch/_refs/example.py
import math

import torch
from torch import Tensor


def f(x: Tensor, scale: float, k: int) -> list[int]:
    n = int(x.size(0))
    return [n, int(x.size(0) * scale), math.ceil(k / 2), math.ceil(x.size(0) / 2.5), int(x.size(0) / scale)]
