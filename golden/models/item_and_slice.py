"""A number that a tensor holds says how much is taken."""

import torch
from torch import Tensor


class Prefix(torch.nn.Module):
    def forward(self, x: Tensor, length: Tensor) -> Tensor:
        n = length.item()
        if n > x.shape[1]:
            raise ValueError(f"{n} is too long")
        if n < 1:
            raise ValueError("nothing is left")
        return x[:, :n].amax(1)


def target() -> dict[str, object]:
    return {
        "model": Prefix(),
        "args": (torch.randn(4, 6), torch.tensor(3)),
        "dynamic": {"x": {0: "batch", 1: "length"}},
        "more": [((torch.randn(2, 8), torch.tensor(8)), {}), ((torch.randn(2, 8), torch.tensor(1)), {})],
    }
