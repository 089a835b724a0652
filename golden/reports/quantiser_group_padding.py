"""Pad activations to whole groups and take a scale for each, as in reports of group quantisation.

Class: a branch that does nothing where it is false.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class GroupScales(torch.nn.Module):
    def __init__(self, group: int = 4) -> None:
        super().__init__()
        self.group = group

    def forward(self, x: Tensor) -> Tensor:
        rows, columns = x.shape
        missing = -columns % self.group
        if missing != 0:
            x = F.pad(x, (0, missing))
        grouped = x.reshape(rows, (columns + missing) // self.group, self.group)
        scale = grouped.abs().amax(-1, keepdim=True).clamp(min=1e-6) / 7
        restored = ((grouped / scale).round() * scale).reshape(rows, columns + missing)
        return restored[:, :columns]


def target() -> dict[str, object]:
    return {
        "model": GroupScales(),
        "args": (torch.randn(3, 10),),
        "dynamic": {"x": {0: "rows", 1: "columns"}},
        "more": [((torch.randn(2, 12),), {}), ((torch.randn(2, 5),), {})],
    }
