"""Take the best boxes if there are too many, by `topk`, as in reports of detection heads.

Class: min and max of sizes in Python.
"""

import torch
from torch import Tensor


class Best(torch.nn.Module):
    def __init__(self, most: int = 4) -> None:
        super().__init__()
        self.most = most

    def forward(self, boxes: Tensor, scores: Tensor) -> Tensor:
        if scores.numel() > self.most:
            best = scores.topk(self.most).indices
            boxes, scores = boxes[best], scores[best]
        return (boxes * scores[:, None]).amax(0)


def target() -> dict[str, object]:
    return {
        "model": Best(),
        "args": (torch.rand(6, 4), torch.rand(6)),
        "dynamic": {"boxes": {0: "boxes"}, "scores": {0: "boxes"}},
        "more": [((torch.rand(3, 4), torch.rand(3)), {})],
    }
