"""Return zeros for silence before the network runs, as in public speech code.

Class: a value that decides which layers run.
"""

import torch
from torch import Tensor


class EarlyReturnOfSilence(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.second = torch.nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        if x.abs().max() < 1e-3:
            return torch.zeros_like(x)
        hidden = self.first(x).relu()
        hidden = hidden + x
        return self.second(hidden)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {
        "model": EarlyReturnOfSilence().eval(),
        "args": (torch.randn(5, 4),),
        "dynamic": {"x": {0: torch.export.Dim("rows", min=1)}},
    }
