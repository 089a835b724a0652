# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import (
    guard_or_false,
    sym_and,
    sym_eq,
)


def checked(a: Tensor, b: Tensor) -> Tensor:
    torch._check(sym_and(a.size(0) == 2, sym_eq(a.size(), b.size())), lambda: "different")
    return a if guard_or_false(a.size(1) == 1) else b


def observe():
    found = []
    for a, b in (((2, 3), (2, 3)), ((3, 4), (2, 3)), ((2, 1), (2, 1))):
        try:
            found.append(checked(torch.ones(a), torch.zeros(b)))
        except RuntimeError as error:
            found.append(str(error))
    return found
