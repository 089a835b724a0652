# symfix-golden: path=accounts/launching.py
from torch import Tensor


def steps(x: Tensor, budget: int) -> list[int]:
    step = max(1, budget // max(x.size(0), 1))
    return [first for first in range(0, x.size(1), step) if first < 8] + list(range(min(x.size(0), 3)))
