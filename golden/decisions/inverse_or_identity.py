"""Invert a matrix where that is safe, as in public calibration code.

Class: a value that decides which layers run.
"""

import torch
from torch import Tensor


class InverseOrIdentity(torch.nn.Module):
    def forward(self, x: Tensor, matrix: Tensor) -> Tensor:
        if torch.linalg.det(matrix).abs() > 1e-6:
            matrix = torch.linalg.inv(matrix)
        else:
            matrix = torch.eye(4)
        return x @ matrix


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": InverseOrIdentity(), "args": (torch.randn(5, 4), torch.randn(4, 4)), "dynamic": {"x": {0: "rows"}}}
