"""Lengthen a waveform to whole hops before framing, as in reports of neural audio codecs.

Class: a branch that does nothing where it is false.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class Framing(torch.nn.Module):
    def __init__(self, hop: int = 5) -> None:
        super().__init__()
        self.hop = hop
        self.encode = torch.nn.Linear(hop, 3)

    def forward(self, wave: Tensor) -> Tensor:
        rest = wave.shape[-1] % self.hop
        if rest > 0:
            wave = F.pad(wave, (0, self.hop - rest))
        frames = wave.unfold(-1, self.hop, self.hop)
        return self.encode(frames)


def target() -> dict[str, object]:
    return {
        "model": Framing(),
        "args": (torch.randn(2, 17),),
        "dynamic": {"wave": {0: "batch", 1: "samples"}},
        "more": [((torch.randn(2, 20),), {}), ((torch.randn(1, 21),), {})],
    }
