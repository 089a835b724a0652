"""Lengthen expanded phonemes to the number of frames, as in reports of speech synthesis with durations.

Class: lengthen by a difference of sizes.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class Expand(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.decode = torch.nn.Linear(4, 4)

    def forward(self, phonemes: Tensor, durations: Tensor, frames: Tensor) -> Tensor:
        long = torch.repeat_interleave(phonemes, durations, dim=0)
        missing = frames.shape[0] - long.shape[0]
        if missing > 0:
            long = F.pad(long, (0, 0, 0, missing))
        return torch.cat([self.decode(long), frames], dim=1)


def target() -> dict[str, object]:
    phonemes, frames = torch.randn(3, 4), torch.randn(7, 4)
    return {
        "model": Expand(),
        "args": (phonemes, torch.tensor([2, 1, 2]), frames),
        "dynamic": {"phonemes": {0: "phonemes"}, "durations": {0: "phonemes"}, "frames": {0: "frames"}},
        "more": [((phonemes, torch.tensor([2, 3, 2]), frames), {}), ((phonemes, torch.tensor([4, 4, 0]), frames), {})],
    }
