"""Normalise each document of a batch in a Python loop, as in reports of models whose batch became constant.

Class: a loop over a size.
"""

import torch
from torch import Tensor


class Documents(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(4, 3)

    def forward(self, documents: Tensor) -> Tensor:
        rows = []
        for number in range(documents.shape[0]):
            row = self.head(documents[number])
            rows.append(row - row.mean())
        return torch.stack(rows)


def target() -> dict[str, object]:
    return {"model": Documents(), "args": (torch.randn(4, 4),), "dynamic": {"documents": {0: "batch"}}}
