"""Look up codes, and fill the codebook first if a buffer says that it is empty, as in reports of vector quantisers.

Class: a flag in a buffer.
"""

import torch
from torch import Tensor


class Codebook(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("ready", torch.tensor(True))
        self.register_buffer("codes", torch.randn(5, 4))

    def forward(self, x: Tensor) -> Tensor:
        if not self.ready:
            self.codes.copy_(x.mean(0, keepdim=True) + torch.arange(5)[:, None])
            self.ready.fill_(True)
        nearest = ((x[:, None] - self.codes[None]) ** 2).sum(-1).argmin(1)
        return self.codes[nearest]


def target() -> dict[str, object]:
    return {"model": Codebook().eval(), "args": (torch.randn(6, 4),), "dynamic": {"x": {0: "vectors"}}}
