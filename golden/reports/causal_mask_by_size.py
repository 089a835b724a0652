"""Keep causal masks in a dictionary with the length as key, as in reports of decoders.

Class: a cache that grows with a size.
"""

import torch
from torch import Tensor


class Decoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.masks: dict[int, Tensor] = {}

    def mask(self, length: int) -> Tensor:
        if length not in self.masks:
            self.masks[length] = torch.ones(length, length, dtype=torch.bool).tril()
        return self.masks[length]

    def forward(self, x: Tensor) -> Tensor:
        scores = (x @ x.T).masked_fill(~self.mask(x.shape[0]), float("-inf"))
        return scores.softmax(-1) @ x


def target() -> dict[str, object]:
    return {"model": Decoder(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "length"}}}
