"""Gate by a threshold that a buffer holds, as in public quantisers.

Class: a flag that a buffer holds.
"""

import torch
from torch import Tensor


class ThresholdInBuffer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("limit", torch.tensor(0.8))

    def forward(self, x: Tensor) -> Tensor:
        score = x.abs().mean()
        if score > self.limit:
            x = x * (self.limit / score)
        return x


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": ThresholdInBuffer().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
