"""Choose the side that an image is scaled by, as in reports of image transforms.

Class: a SymBool under an operator of bools.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class Resize(torch.nn.Module):
    def __init__(self, side: str = "short") -> None:
        super().__init__()
        self.side = side

    def forward(self, image: Tensor, size: Tensor) -> Tensor:
        height, width = image.shape[-2:]
        by_height = (self.side == "short") ^ (height > width)
        scale = torch.where(size > 0, size, 1) / (height if by_height else width)
        return image * scale


def target() -> dict[str, object]:
    return {
        "model": Resize(),
        "args": (torch.randn(3, 6, 8), torch.tensor(4)),
        "dynamic": {"image": {1: "height", 2: "width"}},
        "more": [((torch.randn(3, 8, 6), torch.tensor(4)), {}), ((torch.randn(3, 5, 5), torch.tensor(4)), {})],
    }
