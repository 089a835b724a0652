# symfix-golden: path=torch/_refs/example.py
from __future__ import annotations

import torch
from torch import Tensor


def solve(lu: Tensor, pivots: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_eq

    torch._check(
        sym_eq(lu.shape[:-1], pivots.shape),
        lambda: f"expected {lu.shape[:-1]}, got {pivots.shape}",
    )
    return lu


def norm(x: Tensor, weight: Tensor | None, shape: tuple[int, ...]) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_eq

    torch._check(weight is None or sym_eq(weight.shape, tuple(shape)), lambda: "weight")
    torch._check_value(sym_eq(x.stride(), (1,)), lambda: "stride")
    return x


def framed(x: Tensor, n: int, window: Tensor | None = None, length: int | None = None) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_eq

    length_ = length if length is not None else n
    torch._check(window is None or sym_eq(window.shape, (length_,)), lambda: "window")
    return x


def observe():
    failed = []
    for shape in ((2,), (3,), (1,)):
        for f in (
            lambda shape: norm(torch.ones(2), torch.ones(2), shape),
            lambda shape: norm(torch.ones(2), None, shape),
            lambda shape: framed(torch.ones(2), 2, torch.ones(shape)),
            lambda shape: framed(torch.ones(2), 2, None, *shape),
            lambda shape: solve(torch.ones(2, 3), torch.ones(shape)),
        ):
            try:
                failed.append(f(shape))
            except RuntimeError as error:
                failed.append(str(error))
    return failed
