"""Clamp hidden states when they overflow, as in public encoders.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class OverflowToHalfRange(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        hidden = x * 3.0
        if torch.isinf(hidden).any() or torch.isnan(hidden).any():
            hidden = torch.clamp(hidden, min=-1000.0, max=1000.0)
        return hidden


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": OverflowToHalfRange().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
