"""Pool the points that are in the foreground, or give zeros, as in reports of point cloud networks.

Class: an early return for nothing.
"""

import torch
from torch import Tensor


class Foreground(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lift = torch.nn.Linear(3, 6)

    def forward(self, points: Tensor, score: Tensor) -> Tensor:
        front = points[score > 0.5]
        if len(front) == 0:
            return points.new_zeros(6)
        return self.lift(front).relu().sum(0) / len(front)


def target() -> dict[str, object]:
    points = torch.randn(6, 3)
    return {
        "model": Foreground(),
        "args": (points, torch.tensor([0.9, 0.2, 0.8, 0.1, 0.4, 0.7])),
        "dynamic": {"points": {0: "points"}, "score": {0: "points"}},
        "more": [((points, torch.zeros(6)), {}), ((points, torch.ones(6)), {})],
    }
