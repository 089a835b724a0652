"""Interleave groups of four frames if there are several, after a check of the number, as in reports of video models.

Class: a check of divisibility, then a branch.
"""

import torch
from torch import Tensor


class Interleave(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(3, 3)

    def forward(self, frames: Tensor) -> Tensor:
        number = frames.shape[0]
        assert number % 4 == 0, f"{number} frames do not divide by 4"
        frames = self.head(frames)
        if number // 4 > 1:
            frames = frames.reshape(number // 4, 4, 3).transpose(0, 1).reshape(number, 3)
        return frames


def target() -> dict[str, object]:
    return {
        "model": Interleave(),
        "args": (torch.randn(8, 3),),
        "dynamic": {"frames": {0: "frames"}},
        "more": [((torch.randn(4, 3),), {}), ((torch.randn(12, 3),), {}), ((torch.randn(6, 3),), {})],
    }
