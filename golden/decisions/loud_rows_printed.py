"""Report what is loud while computing, as in public debugging code.

Class: values that decide what no operator keeps.
"""

import torch
from torch import Tensor


class LoudRowsPrinted(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.abs().max() > 2.0:
            print("loud")
            x = x / 2
        return x


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": LoudRowsPrinted().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
