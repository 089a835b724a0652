# symfix-golden: path=torch/_refs/example.py
import torch
import torch.fx.experimental.symbolic_shapes as shapes
from torch import Tensor


def same(a: Tensor, b: Tensor) -> Tensor:
    torch._check(shapes.sym_or(a.dim() == 0, a.size() == b.size()), lambda: "different")
    return a


def observe():
    found = []
    for a, b in (((2, 3), (2, 3)), ((2, 3), (2, 4)), ((), (2,))):
        try:
            found.append(same(torch.ones(a), torch.ones(b)))
        except RuntimeError as error:
            found.append(str(error))
    return found
