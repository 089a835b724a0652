"""Iterate to the largest eigenvector until it rests, as in public spectral code.

Class: values that end a loop.
"""

import torch
from torch import Tensor


class PowerIteration(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        matrix = x.transpose(0, 1) @ x + torch.eye(4)
        vector = torch.ones(4) / 2
        for _ in range(20):
            new = matrix @ vector
            new = new / new.norm()
            if (new - vector).norm() < 1e-3:
                break
            vector = new
        return vector


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": PowerIteration().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
