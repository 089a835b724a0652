# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def forced(x: Tensor, y: Tensor):
    if int(x.size(0)) != 1:
        raise ValueError("int() has decided before the check could wait")
    if max(x.shape) > 3:
        raise ValueError("so has max() of several")
    if x.size(0) == (1 if y.size(0) == 1 else 2):
        raise ValueError("and a conditional expression")
    if any(n > 1 and n < 4 for n in x.shape):
        raise ValueError("and an `and` for each element")
    if any(n > 1 for n in x.shape if n != 7):
        raise ValueError("and a condition inside a generator")
