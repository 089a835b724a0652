"""Squeeze the last channel away without naming it, as in reports of heads with one output.

Class: a squeeze of all dimensions.
"""

import torch
from torch import Tensor


class Head(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.score = torch.nn.Linear(4, 1)

    def forward(self, rows: Tensor) -> Tensor:
        scores = self.score(rows).squeeze()
        return torch.atleast_1d(scores).softmax(0)


def target() -> dict[str, object]:
    return {"model": Head(), "args": (torch.randn(5, 4),), "dynamic": {"rows": {0: "rows"}}}
