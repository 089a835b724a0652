"""Normalise unless the norm is zero, with gradients of the input, as in public adversarial code.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class GradientThroughZeroNorm(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = x.sum()
        if total != 0:
            x = x / total
        return x * 2


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {
        "model": GradientThroughZeroNorm(),
        "args": (torch.randn(5, 4).requires_grad_(),),
        "dynamic": {"x": {0: "rows"}},
    }
