"""Scale a waveform down if it clips, as in reports of speech synthesis.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class Vocoder(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.filter = torch.nn.Conv1d(1, 1, 3, padding=1)

    def forward(self, wave: Tensor) -> Tensor:
        wave = self.filter(wave[:, None])[:, 0]
        peak = wave.abs().max()
        if peak > 1.0:
            wave = wave / peak
        return wave


def target() -> dict[str, object]:
    return {
        "model": Vocoder(),
        "args": (torch.randn(2, 12) * 4,),
        "dynamic": {"wave": {0: "batch", 1: "samples"}},
        "more": [((torch.randn(2, 12) * 0.01,), {})],
    }
