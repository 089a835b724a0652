"""Mask padded frames by the longest utterance, as in reports of speech encoders on `int(lengths.max())`.

Class: int of a tensor.
"""

import torch
from torch import Tensor


class Encoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(6, 8)

    def forward(self, features: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        longest = int(lengths.max())
        features = features[:, :longest]
        positions = torch.arange(features.shape[1], device=lengths.device)
        padding = positions[None, :] >= lengths[:, None]
        hidden = self.linear(features).masked_fill(padding[..., None], 0.0)
        return hidden, padding


def target() -> dict[str, object]:
    x = torch.randn(3, 7, 6)
    return {
        "model": Encoder(),
        "args": (x, torch.tensor([4, 6, 2])),
        "dynamic": {"features": {0: "batch", 1: "time"}, "lengths": {0: "batch"}},
        "more": [((x, torch.tensor([7, 1, 7])), {}), ((x, torch.tensor([1, 1, 1])), {})],
    }
