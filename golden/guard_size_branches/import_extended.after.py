# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def first(a: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import (
        guard_or_false,
        guard_or_true,
        sym_eq,
    )

    if guard_or_true(a.size(0) != 1) and guard_or_false(sym_eq(a.size(), (2, 2))):
        return a.t()
    return a


def second(a: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    def inner(n):
        return a if guard_or_false(n == 0) else a + n

    return inner(a.size(0))


def observe():
    return [f(torch.arange(2.0 * n).view(n, 2)) for f in (first, second) for n in (3, 2, 1)]
