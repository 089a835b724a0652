# symfix-golden: path=torch/_refs/example.py
from torch import Tensor


def widest(x: Tensor) -> int:
    return max(x.shape) + min(x.size(0), x.size(1), 3) + max(*x.shape) + min(x.shape, default=0)
