# symfix-golden: all-functions
import torch
from torch import Tensor


def rows(x: Tensor, y: Tensor) -> Tensor:
    if not torch.jit.is_scripting() and torch.compiler.is_compiling():
        torch._check_value(x.shape[0] == y.shape[0])
    elif x.shape[0] != y.shape[0]:
        raise ValueError("rows differ")
    if not torch.jit.is_scripting() and torch.compiler.is_compiling():
        torch._check(x.shape[1] == y.shape[1])
    else:
        assert x.shape[1] == y.shape[1], f"{x.shape[1]} columns"
    return x + y


def observe():
    found = [rows(torch.ones(3, 4), torch.ones(3, 4))]
    for shape in ((2, 4), (3, 2)):
        try:
            found.append(rows(torch.ones(3, 4), torch.ones(shape)))
        except (AssertionError, ValueError) as error:
            found.append(f"{type(error).__name__}: {error}")
    return found
