# symfix-golden: path=torch/_refs/example.py
from torch import Tensor


def swapped(a: Tensor, i: int, j: int) -> bool:
    if a.stride(i) < a.stride(j):
        return True
    return False
