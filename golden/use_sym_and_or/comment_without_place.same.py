# symfix-golden: path=torch/_refs/example.py
# The values are compared one by one: there is no place for what is said between them.
import torch
from torch import Tensor


def f(x: Tensor, y: Tensor) -> Tensor:
    n = x.size(0)
    torch._check(
        n
        in (
            3,  # without an alpha channel
            4,
        )
        and y.size(0) == 1,
        lambda: "no picture",
    )
    return x
