# symfix-golden: path=torch/_refs/example.py
from torch import Tensor


def halvings(a: Tensor) -> int:
    n, steps = a.size(0), 0
    while n > 1:
        n, steps = n // 2, steps + 1
    return steps
