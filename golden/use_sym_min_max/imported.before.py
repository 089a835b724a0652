# symfix-golden: path=torch/_refs/example.py
import torch as t
from torch import sym_min as least


def smaller(x: t.Tensor) -> int:
    return min(x.numel(), max(x.size(0), 4))


def observe():
    return [smaller(t.ones(n, 2)) for n in (3, 12, 1)]
