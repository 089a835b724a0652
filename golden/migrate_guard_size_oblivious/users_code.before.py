from torch import Tensor
from torch.fx.experimental.symbolic_shapes import guard_size_oblivious, sym_eq


def like(a: Tensor, b: Tensor) -> Tensor:
    if guard_size_oblivious(sym_eq(a.size(), b.size())):
        return a
    return a.expand_as(b)


def observe():
    import torch

    return [like(torch.ones(n), torch.ones(3)) for n in (1, 3)]
