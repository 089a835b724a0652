"""Pair points inside a box with labels and refuse another count, as in reports of point cloud segmentation.

Class: two sizes that have to be equal.
"""

import torch
from torch import Tensor


class BoxLoss(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(3, 1)

    def forward(self, points: Tensor, labels: Tensor) -> Tensor:
        inside = points[(points.abs() < 1.0).all(1)]
        known = labels[labels >= 0]
        if inside.shape[0] != known.shape[0]:
            raise RuntimeError("points and labels do not fit")
        return (self.head(inside)[:, 0] - known).abs().sum()


def target() -> dict[str, object]:
    points = torch.tensor([[0.1, 0.2, 0.3], [2.0, 0.0, 0.0], [0.5, -0.5, 0.0], [0.0, 3.0, 0.0]])
    return {
        "model": BoxLoss(),
        "args": (points, torch.tensor([1.0, -1.0, 0.0, -1.0])),
        "dynamic": {"points": {0: "points"}, "labels": {0: "points"}},
        "more": [
            ((points, torch.tensor([1.0, 0.0, 0.0, -1.0])), {}),
            ((points + 5, -torch.ones(4)), {}),
            ((points / 9, torch.ones(4)), {}),
        ],
    }
