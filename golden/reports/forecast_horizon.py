"""Cut the context window of a forecast at a length from a tensor, as in reports of time series models.

Class: refusal by a value.
"""

import torch
from torch import Tensor


class Forecast(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(3, 1)

    def forward(self, series: Tensor, horizon: Tensor) -> Tensor:
        steps = horizon.item()
        if steps < 0:
            raise ValueError("the horizon is negative")
        context = series.shape[1] - steps
        if context <= 0:
            raise ValueError(f"no context is left before a horizon of {steps}")
        seen = series[:, :context]
        return self.head(seen).mean(1)


def target() -> dict[str, object]:
    x = torch.randn(2, 9, 3)
    return {
        "model": Forecast(),
        "args": (x, torch.tensor(4)),
        "dynamic": {"series": {0: "batch", 1: "time"}},
        "more": [
            ((x, torch.tensor(0)), {}),
            ((x, torch.tensor(8)), {}),
            ((x, torch.tensor(9)), {}),
            ((x, torch.tensor(-1)), {}),
        ],
    }
