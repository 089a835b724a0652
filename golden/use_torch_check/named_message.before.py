# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def split(a: Tensor, parts: int) -> Tensor:
    if a.size(0) % parts != 0:
        msg = f"{a.size(0)} is no multiple of {parts}"
        raise ValueError(msg)
    return a.view(parts, -1)


def like(a: Tensor, first: int, rest: tuple[int, ...]) -> Tensor:
    if a.shape != (first, *rest):
        raise ValueError(f"expected {(first, *rest)}, got {(*a.shape,)}")
    return a


def observe():
    found = []
    for n, parts in ((6, 2), (5, 2), (1, 1)):
        try:
            found.append(split(torch.ones(n), parts))
        except ValueError as error:
            found.append(str(error))
    for rest in ((3,), (2, 2), ()):
        try:
            found.append(like(torch.ones(2, 3), 2, rest))
        except ValueError as error:
            found.append(str(error))
    return found
