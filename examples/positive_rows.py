"""A model with a branch that torch.export cannot decide: the data say how many rows are left."""

import torch
from torch import Tensor


class PositiveRows(torch.nn.Module):
    """Sum of the rows that begin with a positive number, as a linear layer sees them."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        chosen = x[x[:, 0] > 0]
        if chosen.size(0) == 0:
            return x.new_zeros(3)
        return self.linear(chosen).sum(0)


def target() -> dict[str, object]:
    """Return what `symfix export` needs: the model, a call of it, its dynamic dimensions and a further call."""
    x = torch.arange(-12.0, 12.0).view(6, 4)
    return {
        "model": PositiveRows(),
        "args": (x,),
        "dynamic": {"x": {0: "rows"}},
        "more": [((-x.abs(),), {})],
    }
