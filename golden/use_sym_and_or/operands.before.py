# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def pad(input: Tensor, left: int, right: int) -> Tensor:
    width = input.size(-1)
    torch._check(
        left < width and right < width,
        lambda: f"padding ({left}, {right}) is larger than {width}",
    )
    return input


def pool(input: Tensor) -> Tensor:
    ndim = input.dim()
    valid = input.size(1) != 0 and input.size(2) != 0
    torch._check(
        (ndim == 3 and input.size(0) != 0 and valid)
        # a batch may be empty
        or (ndim == 4 and valid and input.size(3) != 0),
        lambda: "empty",
    )
    torch._check(ndim == 3 and valid and input.size(0) != 0, lambda: "three")
    return input


def window(input: Tensor, n: int) -> Tensor:
    torch._check(0 < n <= input.size(0), lambda: "too long")
    torch._check(input.size(0) in (3, 4), lambda: "three or four")
    torch._check(input.dim() == 3 and all(d != 0 for d in input.shape[-2:]), lambda: "empty")
    torch._check(not (input.numel() == 0 and n != 0), lambda: "empty")
    torch._check_with(NotImplementedError, input.size(1) < 5 and n < 9, lambda: "too many")
    torch._check(message=lambda: "short", cond=input.size(1) > 3 and n < 9)
    return input


def accumulated(input: Tensor) -> Tensor:
    valid = input.dim() > 1
    for d in range(1, input.dim()):
        valid = valid and input.size(d) != 0
    torch._check(valid, lambda: "empty")
    return input


def observe():
    found = []
    for f in (lambda t: pad(t, 1, 4), pool, lambda t: window(t, 2), accumulated):
        for shape in ((3, 4, 5), (3, 5, 6), (2, 3, 4, 5), (3, 3, 3), (2, 0, 1), (2, 2, 0, 1), (5, 1, 1)):
            try:
                found.append(f(torch.zeros(shape)))
            except RuntimeError as error:
                found.append(str(error))
    return found
