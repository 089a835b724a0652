# symfix-golden: path=torch/_refs/example.py
from torch import Tensor


def more(x: Tensor, y: Tensor, limit: float, maybe=None) -> int:
    n, m = x.size(0), y.size(0)
    if n > m:
        n = m
    else:
        m = n
    if n > m:
        n = m + 1
    if n > limit:
        n = limit
    if n < 3:
        m = 3
    if n == 0:
        pass
    elif n > m:
        n = m
    if n > m:  # the shorter one
        n = m
    for _ in range(n):
        m += 1
    k = x.numel()
    k = k if k < maybe else maybe
    return n if n < m + 1 else m + 1
