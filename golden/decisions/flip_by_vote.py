"""Turn a sequence around by the sign of its sum, as in public sign conventions.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class FlipByVote(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() < 0:
            return x.flip(0)
        else:
            return x


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": FlipByVote().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
