"""Divide boxes by width and height through `torch.tensor` and numpy, as in reports of detection transformers.

Class: a tensor made of sizes.
"""

import numpy as np
import torch
from torch import Tensor


class Normalise(torch.nn.Module):
    def forward(self, image: Tensor, boxes: Tensor) -> Tensor:
        area = int(np.prod(image.shape))
        scale = torch.tensor(image.shape[0])
        return boxes / scale, image.sum() / area


def target() -> dict[str, object]:
    return {
        "model": Normalise(),
        "args": (torch.randn(6, 5), torch.rand(3, 4)),
        "dynamic": {"image": {0: "height"}, "boxes": {0: "boxes"}},
        "more": [((torch.randn(9, 5), torch.rand(2, 4)), {})],
    }
