"""Choose the short or the long table of frequencies by the largest position, as in reports of rotary embeddings.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class Rotary(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.original = 8
        self.register_buffer("short", torch.tensor([1.0, 0.5]))
        self.register_buffer("long", torch.tensor([0.25, 0.125]))

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        length = torch.max(positions) + 1
        if length > self.original:
            frequencies = self.long
        else:
            frequencies = self.short
        angle = positions[..., None] * frequencies
        return x * angle.cos() + x.flip(-1) * angle.sin()


def target() -> dict[str, object]:
    x = torch.randn(2, 4, 2)
    return {
        "model": Rotary(),
        "args": (x, torch.arange(4).repeat(2, 1)),
        "dynamic": {"x": {0: "batch", 1: "length"}, "positions": {0: "batch", 1: "length"}},
        "more": [((x, torch.arange(6, 10).repeat(2, 1)), {})],
    }
