"""Leave the stack of layers as soon as all rows are sure, as in reports of adaptive computation.

Class: values that decide what is computed.
"""

import torch
from torch import Tensor


class EarlyExit(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))
        self.head = torch.nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x).tanh()
            sure = self.head(x).softmax(-1).amax(-1)
            if sure.numel() > 0 and sure.min() > 0.55:
                return self.head(x)
        return self.head(x)


def target() -> dict[str, object]:
    torch.manual_seed(1)
    return {
        "model": EarlyExit(),
        "args": (torch.randn(3, 4),),
        "dynamic": {"x": {0: "rows"}},
        "more": [((torch.full((2, 4), 8.0),), {}), ((torch.zeros(2, 4),), {})],
    }
