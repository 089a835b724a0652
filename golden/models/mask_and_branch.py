"""A boolean mask decides how many rows there are, and two branches ask for that number."""

import torch
from torch import Tensor


class Pool(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: Tensor, keep: Tensor) -> Tensor:
        chosen = x[keep]
        if chosen.size(0) > x.size(0):
            raise ValueError("too many rows")
        if chosen.size(0) == 0:
            return x.new_zeros(3)
        return self.linear(chosen).sum(0)


def target() -> dict[str, object]:
    x = torch.randn(6, 4)
    return {
        "model": Pool(),
        "args": (x, x[:, 0] > 0),
        "dynamic": {"x": {0: "rows"}, "keep": {0: "rows"}},
        "more": [((x, torch.zeros(6, dtype=torch.bool)), {}), ((x, torch.ones(6, dtype=torch.bool)), {})],
        "training": True,
    }
