"""Average scores, or give zero without any, by a conditional expression on the count, as in reports of trackers.

Class: refusal of sizes.
"""

import torch
from torch import Tensor


class Score(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(3, 1)

    def forward(self, tracks: Tensor) -> Tensor:
        scores = self.head(tracks)[:, 0].sigmoid()
        level = scores.sum() / scores.numel() if scores.numel() > 0 else scores.new_zeros(())
        return tracks * level


def target() -> dict[str, object]:
    return {"model": Score(), "args": (torch.randn(5, 3),), "dynamic": {"tracks": {0: "tracks"}}}
