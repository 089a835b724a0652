"""Mix in a regulariser in training when activations are large, as in public vocoders.

Class: a value that decides which layers run.
"""

import torch
from torch import Tensor


class TrainingOnlyNoise(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.proj = torch.nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.proj(x)
        if self.training and hidden.abs().mean() > 0.3:
            hidden = hidden - 0.1 * self.proj(hidden)
        return hidden


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": TrainingOnlyNoise(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}, "training": True}
