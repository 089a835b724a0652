"""Clip a gradient by its norm, as in public training loops.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class ClipByNorm(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        norm = x.norm(2)
        scale = 1.0 / (norm + 1e-6)
        if scale.item() < 1.0:
            x = x * scale
        return x


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": ClipByNorm().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
