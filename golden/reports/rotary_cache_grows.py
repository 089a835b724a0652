"""Keep a table of positions and compute it anew for longer inputs, as in reports of rotary embeddings.

Class: a cache that grows with a size.
"""

import torch
from torch import Tensor


class Rotary(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen = 0
        self.cosine = torch.zeros(0, 4)

    def table(self, length: int) -> Tensor:
        angle = torch.arange(length)[:, None] / 10 ** torch.arange(4)[None, :]
        return angle.cos()

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > self.seen:
            self.seen = x.shape[0]
            self.cosine = self.table(self.seen)
        return x * self.cosine[: x.shape[0]]


def target() -> dict[str, object]:
    return {"model": Rotary(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "length"}}}
