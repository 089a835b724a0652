# symfix-golden: path=torch/_refs/example.py
from torch import Tensor


def factor(x: Tensor, scale: float) -> tuple[int, float]:
    width = x.size(-1)
    smaller = int(width * scale)
    return smaller, float(width) / smaller


def active(t: Tensor, low: float, high: float) -> bool:
    return low <= float(t.size(0)) <= high
