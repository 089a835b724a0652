"""Divide by the norm unless it is zero, as in reports of feature extractors.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class NormaliseUnlessZero(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        norm = x.norm()
        if norm != 0:
            x = x / norm
        return x + 1


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": NormaliseUnlessZero().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
