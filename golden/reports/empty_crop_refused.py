"""Crop a border off a feature map and refuse what has nothing inside, as in reports of segmentation networks.

Class: refusal of sizes.
"""

import torch
from torch import Tensor


class Crop(torch.nn.Module):
    def __init__(self, border: int = 1) -> None:
        super().__init__()
        self.border = border

    def forward(self, lines: Tensor) -> Tensor:
        height = lines.shape[0] - 2 * self.border
        if height <= 0:
            raise ValueError(f"{lines.shape[0]} lines are too few")
        return lines[self.border : self.border + height].mean(0)


def target() -> dict[str, object]:
    return {
        "model": Crop(),
        "args": (torch.randn(6, 3),),
        "dynamic": {"lines": {0: "height"}},
        "more": [((torch.randn(3, 3),), {}), ((torch.randn(2, 3),), {})],
    }
