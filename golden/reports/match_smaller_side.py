"""Choose the set that a matching cost is divided by, as in reports of set matching and image resizing.

Class: a SymBool under an operator of bools.
"""

import torch
from torch import Tensor


class MatchingCost(torch.nn.Module):
    def __init__(self, side: str = "short") -> None:
        super().__init__()
        self.side = side

    def forward(self, found: Tensor, wanted: Tensor) -> Tensor:
        cost = (found[:, None] - wanted[None]).abs().sum()
        by_found = (self.side == "short") ^ (found.shape[0] > wanted.shape[0])
        return cost / (found.shape[0] if by_found else wanted.shape[0])


def target() -> dict[str, object]:
    return {
        "model": MatchingCost(),
        "args": (torch.rand(6, 4), torch.rand(4, 4)),
        "dynamic": {"found": {0: "found"}, "wanted": {0: "wanted"}},
        "more": [((torch.rand(3, 4), torch.rand(5, 4)), {}), ((torch.rand(5, 4), torch.rand(5, 4)), {})],
    }
