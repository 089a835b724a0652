# symfix-golden: all-functions path=torch/_refs/example.py
from typing import Optional

import torch
from torch import Tensor


def f(x: Tensor, width: int, total: Optional[int], most=None):
    longest = width or x.size(0)
    shortest = x.size(0) or width
    both = width and x.size(0)
    if not total:
        return longest, shortest
    if most:
        return both
    if x.size(0) in ():
        return None
    if x.size(0) in (1, *x.shape):
        return most
    return x
