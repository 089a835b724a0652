"""Halve a step until it is small enough, as in public line searches.

Class: values that end a loop.
"""

import torch
from torch import Tensor


class HalveUntilSmall(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        step = x * 1.0
        while step.norm() > 0.5:
            step = step / 2
        return x + step


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": HalveUntilSmall().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
