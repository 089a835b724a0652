"""Regroup chosen rows in pairs by a `view`, as in reports of keypoint and mask selection.

Class: a reshape of an unknown number of rows.
"""

import torch
from torch import Tensor


class Pairs(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(6, 2)

    def forward(self, points: Tensor, keep: Tensor) -> Tensor:
        chosen = points[keep]
        return self.head(chosen.view(chosen.shape[0] // 2, 2, 3).flatten(1))


def target() -> dict[str, object]:
    points = torch.randn(6, 3)
    return {
        "model": Pairs(),
        "args": (points, torch.tensor([True, False, True, True, False, True])),
        "dynamic": {"points": {0: "points"}, "keep": {0: "points"}},
        "more": [
            ((points, torch.ones(6, dtype=torch.bool)), {}),
            ((points, torch.tensor([True] * 3 + [False] * 3)), {}),
        ],
    }
