"""The values of a mask decide whether a shortcut is taken; the general way is right without it."""

import torch
from torch import Tensor


class Masked(torch.nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        if x.dim() == 2 and mask.all():
            return x.sum(0)
        return (x * mask[:, None]).sum(0)


def target() -> dict[str, object]:
    x = torch.randn(4, 3)
    return {
        "model": Masked(),
        "args": (x, x[:, 0] > 0),
        "dynamic": {"x": {0: "rows"}, "mask": {0: "rows"}},
        "more": [((x, torch.ones(4, dtype=torch.bool)), {})],
    }


class Shifted(torch.nn.Module):
    """Here the branch is no shortcut: without it the result is another."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        if mask.all():
            return x.sum(0)
        return x


def shifted() -> dict[str, object]:
    return {**target(), "model": Shifted()}
