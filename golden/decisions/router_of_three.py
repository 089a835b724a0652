"""Choose one of three heads by a score, as in public routers.

Class: a value that decides which layers run.
"""

import torch
from torch import Tensor


class RouterOfThree(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(4, 2) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        score = x.mean()
        if score > 0.5:
            return self.heads[0](x)
        elif score > -0.5:
            return self.heads[1](x)
        else:
            return self.heads[2](x)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": RouterOfThree().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
