"""An operator in Python, with the fake kernel that torch traces on symbolic sizes."""

import torch
from torch import Tensor


@torch.library.custom_op("examples::add_overlap", mutates_args=())
def add_overlap(x: Tensor, y: Tensor) -> Tensor:
    """Return the sum of the rows that both have."""
    rows = min(x.shape[0], y.shape[0])
    return x[:rows] + y[:rows]


@add_overlap.register_fake
def _(x: Tensor, y: Tensor) -> Tensor:
    if x.shape[1:] != y.shape[1:]:
        raise ValueError("rows differ in shape")
    rows = min(x.shape[0], y.shape[0])
    return x.new_empty(rows, *x.shape[1:])
