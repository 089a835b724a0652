"""Fill blocks of an attention mask between bounds that a tensor holds, as in reports of vision towers.

Class: slices by values in a loop.
"""

import torch
from torch import Tensor


class Packed(torch.nn.Module):
    """Several images stand in one sequence; `bounds` says where each begins and ends."""

    def forward(self, x: Tensor, bounds: Tensor) -> Tensor:
        length = x.shape[0]
        mask = torch.zeros(length, length, dtype=torch.bool)
        for number in range(1, bounds.shape[0]):
            begin, end = bounds[number - 1], bounds[number]
            mask[begin:end, begin:end] = True
        scores = (x @ x.T).masked_fill(~mask, -1e9)
        return scores.softmax(-1) @ x


def target() -> dict[str, object]:
    return {
        "model": Packed(),
        "args": (torch.randn(7, 4), torch.tensor([0, 3, 7])),
        "dynamic": {"x": {0: "length"}},
        "more": [
            ((torch.randn(7, 4), torch.tensor([0, 7, 7])), {}),
            ((torch.randn(9, 4), torch.tensor([0, 2, 9])), {}),
        ],
    }
