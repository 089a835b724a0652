"""Resize decoder features to the encoder's if the sizes differ, as in reports of U-shaped networks.

Class: a branch that does nothing where it is false.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class Up(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Upsample(scale_factor=2, mode="nearest")
        self.join = torch.nn.Conv1d(4, 2, 1)

    def forward(self, low: Tensor, skip: Tensor) -> Tensor:
        high = self.up(low)
        if high.shape[-1] != skip.shape[-1]:
            high = F.interpolate(high, size=skip.shape[-1:], mode="nearest")
        return self.join(torch.cat([high, skip], dim=1))


def target() -> dict[str, object]:
    return {
        "model": Up(),
        "args": (torch.randn(2, 2, 3), torch.randn(2, 2, 7)),
        "dynamic": {"low": {2: "low"}, "skip": {2: "high"}},
        "more": [
            ((torch.randn(2, 2, 4), torch.randn(2, 2, 8)), {}),
            ((torch.randn(2, 2, 4), torch.randn(2, 2, 9)), {}),
        ],
    }
