"""Shift windows of a sequence if there are several, after a check of the length, as in reports of window attention.

Class: a check of divisibility, then a branch.
"""

import torch
from torch import Tensor


class Shift(torch.nn.Module):
    def __init__(self, window: int = 3) -> None:
        super().__init__()
        self.window = window

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] % self.window != 0:
            raise ValueError(f"{x.shape[0]} steps do not fill windows of {self.window}")
        windows = x.reshape(x.shape[0] // self.window, self.window * 2)
        if windows.shape[0] > 1:
            windows = windows.roll(1, 0)
        return windows.softmax(-1)


def target() -> dict[str, object]:
    return {
        "model": Shift(),
        "args": (torch.randn(9, 2),),
        "dynamic": {"x": {0: "steps"}},
        "more": [((torch.randn(3, 2),), {}), ((torch.randn(12, 2),), {}), ((torch.randn(7, 2),), {})],
    }
