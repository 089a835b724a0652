"""Pad two texts to the longer one by `max` of their lengths, as in reports of text encoders and diffusion.

Class: min and max of sizes in Python.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class Both(torch.nn.Module):
    def forward(self, first: Tensor, second: Tensor) -> Tensor:
        longest = max(first.shape[0], second.shape[0])
        first = F.pad(first, (0, 0, 0, longest - first.shape[0]))
        second = F.pad(second, (0, 0, 0, longest - second.shape[0]))
        return torch.stack([first, second]).sum((0, 1))


def target() -> dict[str, object]:
    return {
        "model": Both(),
        "args": (torch.randn(5, 3), torch.randn(4, 3)),
        "dynamic": {"first": {0: "first"}, "second": {0: "second"}},
        "more": [((torch.randn(2, 3), torch.randn(6, 3)), {}), ((torch.randn(4, 3), torch.randn(4, 3)), {})],
    }
