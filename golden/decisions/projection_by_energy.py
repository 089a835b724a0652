"""Project only what is loud, as in public voice filters.

Class: a value that decides which layers run.
"""

import torch
from torch import Tensor


class ProjectionByEnergy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.proj = torch.nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        if x.pow(2).mean() > 0.5:
            x = self.proj(x)
        return x.relu()


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": ProjectionByEnergy().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
