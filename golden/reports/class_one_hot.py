"""Encode labels by `one_hot` without the number of classes, as in reports of segmentation losses.

Class: a size that an operator reads from values.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class Dice(torch.nn.Module):
    def __init__(self, classes: int = 4) -> None:
        super().__init__()
        self.classes = classes

    def forward(self, probabilities: Tensor, labels: Tensor) -> Tensor:
        wanted = F.one_hot(labels).to(probabilities.dtype)
        if wanted.shape[1] < self.classes:
            wanted = F.pad(wanted, (0, self.classes - wanted.shape[1]))
        overlap = (probabilities * wanted).sum(0)
        return 1 - (2 * overlap + 1) / (probabilities.sum(0) + wanted.sum(0) + 1)


def target() -> dict[str, object]:
    p = torch.softmax(torch.randn(6, 4), -1)
    return {
        "model": Dice(),
        "args": (p, torch.tensor([0, 3, 1, 1, 2, 0])),
        "dynamic": {"probabilities": {0: "pixels"}, "labels": {0: "pixels"}},
        "more": [((p, torch.tensor([0, 1, 1, 1, 1, 0])), {}), ((p, torch.tensor([0, 1, 4, 1, 1, 0])), {})],
    }
