# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def f(x: Tensor, most: int):
    # an order of floats is not turned round: both are false for NaN
    torch._check_value(torch.sym_not(x.size(0) / 2 > 1.5), lambda: "large")
    torch._check_value(x.size(0) <= most, lambda: "larger")
    return "passed"


def observe():
    found = []
    for n in (2, 3, 4, 5, 0, 1):
        try:
            found.append(f(torch.ones(n), 2))
        except ValueError as error:
            found.append(str(error))
    return found
