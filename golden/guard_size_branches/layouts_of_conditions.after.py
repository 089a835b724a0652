# symfix-golden: path=torch/_refs/example.py
from __future__ import annotations

import torch
from torch import Tensor


def parenthesised(a: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    if guard_or_false(a.size(0) == 1) and a.requires_grad:
        return a.squeeze(0)
    return a


def commented(a: Tensor, b: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    if (
        a.dim() == 2  # a matrix
        # that has one row
        and guard_or_false(a.size(0) == 1)
        and not guard_or_false(b.size(0) == 1)
    ):
        return a.expand(b.size(0), -1)
    return a


def one_line(a: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    if guard_or_false(a.shape[0] == 0): return a
    return a + 1


def branches(a: Tensor) -> int:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    if a.dim() == 0:
        return 0
    elif guard_or_false(a.numel() == 0):
        return 1
    return 2


def chosen(a: Tensor, n: int) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    return a.new_zeros(n) if guard_or_false(a.size(-1) == 0) else a


def named(a: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    if guard_or_false((n := a.size(0)) == 1):
        return a * n
    return a


def filtered(a: Tensor) -> list[int]:
    from torch.fx.experimental.symbolic_shapes import guard_or_true

    return [d for d in range(a.dim()) if guard_or_true(a.shape[d] != 1)]


def anything(*tensors: Tensor) -> bool:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    sizes = [t.numel() for t in tensors]
    return any(guard_or_false(size == 0) for size in sizes)


def truthy(a: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_true

    return a if guard_or_true(a.numel() != 0) else a.new_ones(1)


def special(a: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    if guard_or_false(a.shape[0] == 0) or guard_or_false(a.shape[0] == 1):
        return a
    return a.flip(0)


def observe():
    a, b, empty = torch.arange(3.0).view(1, 3), torch.ones(2, 3), torch.ones(0, 2)
    return [
        [parenthesised(t) for t in (b, a)],
        [commented(b, a), commented(a, b)],
        [one_line(t) for t in (b, empty, a)],
        [branches(t) for t in (b, empty, b.sum())],
        [chosen(t, 2) for t in (b, empty.T)],
        [named(t) for t in (b, a)],
        [filtered(t) for t in (b, a)],
        [anything(b, a), anything(a, empty)],
        [truthy(t) for t in (b, empty)],
        [special(t) for t in (b, a, empty)],
    ]
