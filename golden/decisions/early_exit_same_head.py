"""Return the head of the first sure layer, as in reports of early exit.

Class: values that end a loop.
"""

import torch
from torch import Tensor


class EarlyExitSameHead(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x).relu()
            if self.head(x).softmax(-1).mean(0).std() > 0.2:
                return self.head(x)
        return self.head(x)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": EarlyExitSameHead().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
