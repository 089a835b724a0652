"""Pad an image to whole windows and cut the result, as in reports of window attention backbones.

Class: a branch that does nothing where it is false.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class Windows(torch.nn.Module):
    def __init__(self, window: int = 4) -> None:
        super().__init__()
        self.window = window
        self.mix = torch.nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        height, width = x.shape[1:3]
        pad_h = (self.window - height % self.window) % self.window
        pad_w = (self.window - width % self.window) % self.window
        if pad_h > 0 or pad_w > 0:
            x = F.pad(x, (0, 0, 0, pad_w, 0, pad_h))
        x = self.mix(x)
        if pad_h > 0 or pad_w > 0:
            x = x[:, :height, :width]
        return x.amax((1, 2))


def target() -> dict[str, object]:
    return {
        "model": Windows(),
        "args": (torch.randn(2, 6, 7, 3),),
        "dynamic": {"x": {0: "batch", 1: "height", 2: "width"}},
        "more": [((torch.randn(2, 8, 4, 3),), {}), ((torch.randn(3, 8, 5, 3),), {})],
    }
