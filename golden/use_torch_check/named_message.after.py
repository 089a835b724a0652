# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def split(a: Tensor, parts: int) -> Tensor:
    torch._check_value(
        a.size(0) % parts == 0,
        lambda: f"{a.size(0)} is no multiple of {parts}",
    )
    return a.view(parts, -1)


def like(a: Tensor, first: int, rest: tuple[int, ...]) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_eq

    torch._check_value(
        sym_eq(a.shape, (first, *rest)),
        lambda: f"expected {(first, *rest)}, got {(*a.shape,)}",
    )
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
