"""Take the best boxes, at most as many as there are, by `min` and `topk`, as in reports of detection heads.

Class: min and max of sizes in Python.
"""

import torch
from torch import Tensor


class Best(torch.nn.Module):
    def __init__(self, most: int = 4) -> None:
        super().__init__()
        self.most = most

    def forward(self, boxes: Tensor, scores: Tensor) -> Tensor:
        count = min(self.most, scores.shape[0])
        best = scores.topk(count).indices
        return boxes[best].sum(0)


def target() -> dict[str, object]:
    return {
        "model": Best(),
        "args": (torch.rand(6, 4), torch.rand(6)),
        "dynamic": {"boxes": {0: "boxes"}, "scores": {0: "boxes"}},
        "more": [((torch.rand(3, 4), torch.rand(3)), {})],
    }
