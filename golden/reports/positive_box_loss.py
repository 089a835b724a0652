"""Average a loss over matched boxes and give a zero without any, as in reports of detection losses.

Class: an early return for nothing.
"""

import torch
from torch import Tensor


class BoxLoss(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(4, 4)

    def forward(self, features: Tensor, boxes: Tensor, matched: Tensor) -> Tensor:
        predicted = self.head(features)[matched]
        if predicted.numel() == 0:
            return features.sum() * 0.0
        return (predicted - boxes[matched]).abs().sum() / predicted.shape[0]


def target() -> dict[str, object]:
    features, boxes = torch.randn(5, 4), torch.randn(5, 4)
    return {
        "model": BoxLoss(),
        "args": (features, boxes, torch.tensor([True, False, True, True, False])),
        "dynamic": {"features": {0: "anchors"}, "boxes": {0: "anchors"}, "matched": {0: "anchors"}},
        "more": [((features, boxes, torch.zeros(5, dtype=torch.bool)), {})],
    }
