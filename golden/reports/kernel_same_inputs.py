"""Compute a kernel matrix with a shortcut where both inputs are the same, as in reports of Gaussian processes.

Class: a shortcut where two tensors are equal.
"""

import torch
from torch import Tensor


class Kernel(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.length = torch.nn.Parameter(torch.tensor(0.7))

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        x1, x2 = x1 / self.length, x2 / self.length
        if x1.shape == x2.shape and torch.equal(x1, x2):
            norm = (x1 * x1).sum(1)
            distance = norm[:, None] + norm[None, :] - 2 * x1 @ x1.T
        else:
            distance = (x1 * x1).sum(1)[:, None] + (x2 * x2).sum(1)[None, :] - 2 * x1 @ x2.T
        return torch.exp(-0.5 * distance.clamp(min=0))


def target() -> dict[str, object]:
    x = torch.randn(4, 3)
    return {
        "model": Kernel(),
        "args": (x, torch.randn(4, 3)),
        "dynamic": {"x1": {0: "rows"}, "x2": {0: "columns"}},
        "more": [((x, x.clone()), {})],
    }
