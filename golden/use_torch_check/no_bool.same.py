# symfix-golden: path=torch/_refs/example.py
from torch import Tensor


def f(x: Tensor, weight, names: list[str]) -> Tensor:
    assert weight and x.size(0) == 1
    assert names or x.size(0) == 1, "a list is no bool"
    return x
