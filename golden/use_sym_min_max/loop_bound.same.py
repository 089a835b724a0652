# symfix-golden: path=accounts/launching.py
from torch import Tensor


def steps(x: Tensor, budget: int) -> list[int]:
    step = max(1, budget // max(x.size(0), 1))
    found = []
    for first in range(0, x.size(1), step):
        part = min(step, x.size(1) - first)
        found.append(part)
    return found + list(range(min(x.size(0), 3)))
