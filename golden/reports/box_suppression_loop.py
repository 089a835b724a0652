"""Suppress boxes one after the other while some are left, as in reports of hand-written suppression.

Class: values that decide how often a loop runs.
"""

import torch
from torch import Tensor


class Suppress(torch.nn.Module):
    def forward(self, centres: Tensor, scores: Tensor) -> Tensor:
        order = scores.argsort(descending=True)
        kept = []
        while order.numel() > 0:
            kept.append(order[0])
            distance = (centres[order] - centres[order[0]]).abs()
            order = order[distance > 0.3]
        return torch.stack(kept)


def target() -> dict[str, object]:
    return {
        "model": Suppress(),
        "args": (torch.tensor([0.1, 0.2, 0.9, 0.5]), torch.tensor([0.3, 0.8, 0.7, 0.1])),
        "dynamic": {"centres": {0: "boxes"}, "scores": {0: "boxes"}},
    }
