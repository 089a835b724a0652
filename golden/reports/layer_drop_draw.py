"""Draw a number to drop a layer although the model does not train, as in reports of speech transformers.

Class: a random draw before a flag.
"""

import torch
from torch import Tensor


class Encoder(torch.nn.Module):
    def __init__(self, drop: float = 0.1) -> None:
        super().__init__()
        self.drop = drop
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            if torch.rand([]) < self.drop and self.training:
                continue
            x = layer(x).relu()
        return x


def target() -> dict[str, object]:
    return {"model": Encoder().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
