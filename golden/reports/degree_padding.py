"""Lengthen node degrees to the number of nodes, as in reports of graph libraries.

Class: lengthen by a difference of sizes.
"""

import torch
from torch import Tensor


class DegreeFeatures(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x: Tensor, receiver: Tensor) -> Tensor:
        degree = torch.bincount(receiver).to(x.dtype)
        if degree.size(0) < x.size(0):
            missing = degree.new_zeros(x.size(0) - degree.size(0))
            degree = torch.cat([degree, missing])
        return degree @ self.head(x)


def target() -> dict[str, object]:
    x = torch.randn(5, 4)
    return {
        "model": DegreeFeatures(),
        "args": (x, torch.tensor([1, 2, 1, 3])),
        "dynamic": {"x": {0: "nodes"}, "receiver": {0: "edges"}},
        "more": [((x, torch.tensor([4, 0])), {}), ((x, torch.tensor([0, 0, 0])), {})],
    }
