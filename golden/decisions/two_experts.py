"""Let one of two experts answer, as in public mixtures of experts.

Class: a value that decides which layers run.
"""

import torch
from torch import Tensor


class TwoExperts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = torch.nn.Linear(4, 1)
        self.left = torch.nn.Linear(4, 4)
        self.right = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))

    def forward(self, x: Tensor) -> Tensor:
        if self.gate(x).mean() > 0:
            out = self.left(x)
        else:
            out = self.right(x)
        return x + out


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": TwoExperts(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}, "training": True}
