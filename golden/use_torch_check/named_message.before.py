# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def split(a: Tensor, parts: int) -> Tensor:
    if a.size(0) % parts != 0:
        msg = f"{a.size(0)} is no multiple of {parts}"
        raise ValueError(msg)
    return a.view(parts, -1)


def observe():
    found = []
    for n, parts in ((6, 2), (5, 2), (1, 1)):
        try:
            found.append(split(torch.ones(n), parts))
        except ValueError as error:
            found.append(str(error))
    return found
