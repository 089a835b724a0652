# symfix-golden: path=torch/_refs/example.py
from torch import Tensor


def guard_size_oblivious(condition):
    return bool(condition)


def f(a: Tensor) -> Tensor:
    return a[0] if guard_size_oblivious(a.size(0) == 1) else a
