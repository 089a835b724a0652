"""Stack audio frames by a factor with a float division and `is_integer`, as in reports of speech front ends.

Class: float arithmetic on sizes.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class Stack(torch.nn.Module):
    def __init__(self, factor: int = 3) -> None:
        super().__init__()
        self.factor = factor
        self.head = torch.nn.Linear(2 * factor, 4)

    def forward(self, frames: Tensor) -> Tensor:
        groups = frames.shape[0] / self.factor
        if not float(groups).is_integer():
            frames = F.pad(frames, (0, 0, 0, self.factor - frames.shape[0] % self.factor))
        return self.head(frames.reshape(frames.shape[0] // self.factor, 2 * self.factor))


def target() -> dict[str, object]:
    return {
        "model": Stack(),
        "args": (torch.randn(7, 2),),
        "dynamic": {"frames": {0: "frames"}},
        "more": [((torch.randn(9, 2),), {}), ((torch.randn(5, 2),), {})],
    }
