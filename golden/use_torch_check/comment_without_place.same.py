# symfix-golden: path=torch/_refs/example.py
# The values are compared one by one: there is no place for what is said between them.
import torch
from torch import Tensor


def f(x: Tensor) -> Tensor:
    n = x.size(0)
    if n not in (
        3,  # without an alpha channel
        4,
    ):
        raise ValueError("no picture")
    return x
