"""Leave the stack of layers when the answer is sure, as in public adaptive computation.

Class: values that end a loop.
"""

import torch
from torch import Tensor


class DepthByConfidence(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x).tanh()
            if x.abs().mean() > 0.35:
                break
        return x * 2


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": DepthByConfidence().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
