from torch import Tensor
from torch.fx.experimental.symbolic_shapes import (
    guard_or_false,
    sym_eq,
)


def like(a: Tensor, b: Tensor) -> Tensor:
    if guard_or_false(sym_eq(a.size(), b.size())):
        return a
    return a.expand_as(b)


def observe():
    import torch

    shapes = (((3,), (2, 3)), ((2, 3), (2, 3)), ((1,), (3,)))
    return [like(torch.ones(one), torch.ones(other)) for one, other in shapes]
