"""Take another margin for positive and negative means, as in public metric learning.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class MarginBySign(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        mean = x.mean()
        margin = mean + 0.5 if mean > 0 else mean - 0.5
        return torch.relu(x - margin)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": MarginBySign().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
