"""Pad activations to whole groups and measure the error of rounding, as in reports of group quantisation.

Class: a branch that does nothing where it is false.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class GroupError(torch.nn.Module):
    def __init__(self, group: int = 4) -> None:
        super().__init__()
        self.group = group

    def forward(self, x: Tensor) -> Tensor:
        count = x.shape[0]
        missing = -count % self.group
        padded = x
        if missing != 0:
            padded = F.pad(x, (0, missing))
        grouped = padded.reshape((count + missing) // self.group, self.group)
        scale = grouped.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 7
        restored = ((grouped / scale).round() * scale).flatten()
        return (restored[:count] - x).abs().sum()


def target() -> dict[str, object]:
    return {
        "model": GroupError(),
        "args": (torch.randn(10),),
        "dynamic": {"x": {0: "count"}},
        "more": [((torch.randn(12),), {}), ((torch.randn(5),), {})],
    }
