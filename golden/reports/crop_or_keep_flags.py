"""Combine two comparisons of sizes by `&` before a crop, as in reports of data augmentation.

Class: a SymBool under an operator of bools.
"""

import torch
from torch import Tensor


class Crop(torch.nn.Module):
    def __init__(self, size: int = 4) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        rows, columns = x.shape[1:]
        if (rows > self.size) | (columns > self.size):
            x = x[:, : self.size, : self.size]
        return x.sum((1, 2))


def target() -> dict[str, object]:
    return {
        "model": Crop(),
        "args": (torch.randn(3, 6, 8),),
        "dynamic": {"x": {0: "batch", 1: "rows", 2: "columns"}},
        "more": [((torch.randn(3, 3, 4),), {}), ((torch.randn(2, 9, 2),), {})],
    }
