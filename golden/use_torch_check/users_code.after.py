# symfix-golden: all-functions drop-torchscript
import torch
from torch import Tensor


def batch(x: Tensor, y: Tensor) -> Tensor:
    if torch.compiler.is_compiling():
        torch._check_value((x.shape[0] == y.shape[0]) | (x.shape[0] == 1))
    elif x.shape[0] != y.shape[0] and x.shape[0] != 1:
        raise ValueError("batches differ")
    return x + y


def observe():
    found = []
    for n in (3, 2, 1):
        try:
            found.append(batch(torch.ones(n, 2), torch.ones(3, 2)))
        except ValueError as error:
            found.append(str(error))
    return found
