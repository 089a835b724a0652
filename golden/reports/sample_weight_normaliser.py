"""Normalise weights unless they are all zero, as in reports of weighted losses.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class Weighted(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(4, 1)

    def forward(self, x: Tensor, weight: Tensor) -> Tensor:
        total = weight.sum()
        if total.item() != 0.0:
            weight = weight / total
        return (self.head(x)[:, 0] * weight).sum()


def target() -> dict[str, object]:
    x = torch.randn(5, 4)
    return {
        "model": Weighted(),
        "args": (x, torch.rand(5)),
        "dynamic": {"x": {0: "rows"}, "weight": {0: "rows"}},
        "more": [((x, torch.zeros(5)), {})],
    }
