"""Reduce a series by halves in a loop over the logarithm of its length, as in reports of parallel scans.

Class: a loop over a size.
"""

import math

import torch
from torch import Tensor


class Scan(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[0]
        for level in range(math.ceil(math.log2(length))):
            step = 2**level
            x = torch.cat([x[:step], x[step:] + x[:-step]])
        return x


def target() -> dict[str, object]:
    return {"model": Scan(), "args": (torch.randint(9, (6, 3)).float(),), "dynamic": {"x": {0: "length"}}}
