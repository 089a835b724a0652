"""Give each step a position between -1 and 1 by `linspace`, as in reports of long convolutions.

Class: float arithmetic on sizes.
"""

import torch
from torch import Tensor


class Filter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(1, 4)

    def forward(self, x: Tensor) -> Tensor:
        positions = torch.linspace(-1.0, 1.0, steps=x.shape[0])
        return x * self.head(positions[:, None]).sin()


def target() -> dict[str, object]:
    return {"model": Filter(), "args": (torch.randn(6, 4),), "dynamic": {"x": {0: "length"}}}
