"""Keep the largest value ever seen in an attribute, as in public monitors.

Class: values that decide what no operator keeps.
"""

import torch
from torch import Tensor


class StatisticsKept(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.peak = torch.tensor(0.0)

    def forward(self, x: Tensor) -> Tensor:
        if x.max() > self.peak:
            self.peak = x.max()
        return x / (self.peak + 1)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": StatisticsKept().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
