"""Scale scores by `math.sqrt` of the number of keys, as in reports of attention with length scaling.

Class: float arithmetic on sizes.
"""

import math

import torch
from torch import Tensor


class Scores(torch.nn.Module):
    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        scores = query @ keys.T / math.sqrt(keys.shape[0])
        return scores.softmax(-1) @ keys


def target() -> dict[str, object]:
    return {
        "model": Scores(),
        "args": (torch.randn(2, 4), torch.randn(5, 4)),
        "dynamic": {"query": {0: "queries"}, "keys": {0: "keys"}},
    }
