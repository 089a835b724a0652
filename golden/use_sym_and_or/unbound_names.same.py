# symfix-golden: path=torch/_refs/example.py
# Where the first operand answers, nobody asks for a name that has no value there.
import torch
from torch import Tensor


def bound_one_way(x: Tensor) -> Tensor:
    rows = x.size(0)
    if rows:
        columns = x.numel() // rows
    torch._check(rows == 0 or columns == 3, lambda: "three columns")
    return x


def bound_later(x: Tensor) -> Tensor:
    rows = x.size(0)
    torch._check(x.dim() == 2, lambda: "a matrix")
    torch._check(rows == 0 or shape[1] == 3, lambda: "three columns")
    shape = x.shape
    return x.new_empty(shape)


def deleted(x: Tensor) -> Tensor:
    rows = x.size(0)
    width = x.size(-1)
    if rows > 3:
        width += 1
    del width
    torch._check(rows == 0 or width == 3, lambda: "three columns")
    return x
