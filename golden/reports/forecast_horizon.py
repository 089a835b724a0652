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
        context = series.shape[0] - steps
        if context <= 0:
            raise ValueError(f"no context is left before a horizon of {steps}")
        return self.head(series[:context]).mean(0)


def target() -> dict[str, object]:
    x = torch.randn(9, 3)
    return {
        "model": Forecast(),
        "args": (x, torch.tensor(4)),
        "dynamic": {"series": {0: "time"}},
        "more": [((x, torch.tensor(number)), {}) for number in (0, 8, 9, -1)],
    }
