"""Keep a share of the patches, rounded from a float, as in reports of masked autoencoders.

Class: float arithmetic on sizes.
"""

import torch
from torch import Tensor


class KeepSome(torch.nn.Module):
    def __init__(self, ratio: float = 0.75) -> None:
        super().__init__()
        self.ratio = ratio

    def forward(self, patches: Tensor, noise: Tensor) -> Tensor:
        keep = round(patches.shape[0] * (1 - self.ratio))
        if keep < 1:
            keep = 1
        order = noise.argsort(stable=True)[:keep]
        return patches[order].sum(0)


def target() -> dict[str, object]:
    return {
        "model": KeepSome(),
        "args": (torch.randn(8, 3), torch.rand(8)),
        "dynamic": {"patches": {0: "patches"}, "noise": {0: "patches"}},
        "more": [((torch.randn(3, 3), torch.rand(3)), {}), ((torch.randn(16, 3), torch.rand(16)), {})],
    }
