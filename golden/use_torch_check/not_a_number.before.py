# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def f(x: Tensor, most: int):
    if x.size(0) / 2 > 1.5:  # an order of floats is not turned round: both are false for NaN
        raise ValueError("large")
    if x.size(0) > most:
        raise ValueError("larger")
    return "passed"


def observe():
    found = []
    for n in (2, 3, 4, 5, 0, 1):
        try:
            found.append(f(torch.ones(n), 2))
        except ValueError as error:
            found.append(str(error))
    return found
