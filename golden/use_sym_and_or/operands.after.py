# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def pad(input: Tensor, left: int, right: int) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and

    width = input.size(-1)
    torch._check(
        sym_and(left < width, right < width),
        lambda: f"padding ({left}, {right}) is larger than {width}",
    )
    return input


def pool(input: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and, sym_or

    ndim = input.dim()
    valid = sym_and(input.size(1) != 0, input.size(2) != 0)
    torch._check(
        sym_or(ndim == 3 and sym_and(input.size(0) != 0, valid),
        # a batch may be empty
        ndim == 4 and sym_and(valid, input.size(3) != 0)),
        lambda: "empty",
    )
    torch._check(ndim == 3 and sym_and(valid, input.size(0) != 0), lambda: "three")
    return input


def window(input: Tensor, n: int) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and, sym_or

    torch._check(sym_and(0 < n, n <= input.size(0)), lambda: "too long")
    torch._check(input.size(0) in (3, 4), lambda: "three or four")
    torch._check(input.dim() == 3 and sym_and(True, *(d != 0 for d in input.shape[-2:])), lambda: "empty")
    torch._check(sym_or(input.numel() != 0, n == 0), lambda: "empty")
    torch._check_with(NotImplementedError, sym_and(input.size(1) < 5, n < 9), lambda: "too many")
    torch._check(message=lambda: "short", cond=sym_and(input.size(1) > 3, n < 9))
    return input


def accumulated(input: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and

    valid = input.dim() > 1
    for d in range(1, input.dim()):
        valid = sym_and(valid, input.size(d) != 0)
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
