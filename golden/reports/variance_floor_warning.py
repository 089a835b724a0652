"""Warn of variances below a bound and clamp them, as in reports of Gaussian likelihoods.

Class: validation of arguments.
"""

import warnings

import torch
from torch import Tensor


class Likelihood(torch.nn.Module):
    def __init__(self, floor: float = 1e-4) -> None:
        super().__init__()
        self.floor = floor

    def forward(self, mean: Tensor, variance: Tensor, wanted: Tensor) -> Tensor:
        if (variance < self.floor).any():
            warnings.warn("small variances are raised to the bound", stacklevel=2)
        variance = variance.clamp(min=self.floor)
        return 0.5 * (variance.log() + (wanted - mean) ** 2 / variance).mean(-1)


def target() -> dict[str, object]:
    mean, wanted = torch.randn(4, 3), torch.randn(4, 3)
    return {
        "model": Likelihood(),
        "args": (mean, torch.rand(4, 3) + 0.1, wanted),
        "dynamic": {"mean": {0: "rows"}, "variance": {0: "rows"}, "wanted": {0: "rows"}},
        "more": [((mean, torch.zeros(4, 3), wanted), {})],
    }
