# symfix-golden: path=layers/attention.py all-functions
import numpy as np
import torch
from torch import Tensor


def scaled(x: Tensor, y: Tensor, *names: str) -> Tensor:
    if torch.compiler.is_compiling():
        torch._check_value(x.size(0) == y.size(0))
    elif x.size(0) != y.size(0):
        raise ValueError("batches differ")
    return x * y / np.sqrt(2.0)


def observe():
    found = []
    for n in (2, 3, 1):
        try:
            found.append(scaled(torch.ones(2, 4), torch.ones(n, 4)))
        except ValueError as error:
            found.append(str(error))
    return found
