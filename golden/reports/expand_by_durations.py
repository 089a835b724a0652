"""Repeat phonemes by durations and add positions up to the sum, as in reports of length regulators.

Class: a size that an operator reads from values.
"""

import torch
from torch import Tensor


class Regulator(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("positions", torch.randn(64, 4))

    def forward(self, phonemes: Tensor, durations: Tensor) -> Tensor:
        frames = torch.repeat_interleave(phonemes, durations, dim=0)
        total = int(durations.sum())
        return frames + self.positions[:total]


def target() -> dict[str, object]:
    phonemes = torch.randn(3, 4)
    return {
        "model": Regulator(),
        "args": (phonemes, torch.tensor([2, 1, 3])),
        "dynamic": {"phonemes": {0: "phonemes"}, "durations": {0: "phonemes"}},
        "more": [((phonemes, torch.tensor([0, 0, 4])), {}), ((phonemes, torch.tensor([0, 0, 1])), {})],
    }
