# symfix-golden: path=torch/_refs/example.py
import sympy
from torch import Tensor


def bounds(x: Tensor, numel: sympy.Expr, ratio: float) -> float:
    return max(x.ndim, 2) + min(len(x.shape), 3) + max(numel, 1) + min(x.size(0) * 0.5, ratio) + max(x.size(0), 0.5)
