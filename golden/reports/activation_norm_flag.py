"""Normalise with statistics of the first batch, set up once as a buffer says, as in reports of normalising flows.

Class: a flag in a buffer.
"""

import torch
from torch import Tensor


class ActNorm(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("initialised", torch.tensor(1, dtype=torch.uint8))
        self.shift = torch.nn.Parameter(torch.zeros(4))
        self.scale = torch.nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if self.initialised.item() == 0:
            with torch.no_grad():
                self.shift.copy_(-x.mean(0))
                self.scale.copy_(1 / x.std(0))
                self.initialised.fill_(1)
        log_det = self.scale.abs().log().sum() * x.shape[0]
        return (x + self.shift) * self.scale, log_det


def target() -> dict[str, object]:
    return {"model": ActNorm().eval(), "args": (torch.randn(6, 4),), "dynamic": {"x": {0: "rows"}}}
