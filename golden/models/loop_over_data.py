"""The values of a tensor say how often a loop runs: nothing that a tool should rewrite."""

import torch
from torch import Tensor


class Rounds(torch.nn.Module):
    def forward(self, x: Tensor, steps: Tensor) -> Tensor:
        for _ in range(int(steps.max())):
            x = x * 0.5
        return x


def target() -> dict[str, object]:
    return {
        "model": Rounds(),
        "args": (torch.randn(5, 2), torch.tensor([1, 3])),
        "dynamic": {"x": {0: "rows"}},
    }
