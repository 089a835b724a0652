"""Pad jagged features of users to the longest row, as in reports of recommenders on jagged tensors.

Class: int of a tensor.
"""

import torch
from torch import Tensor


class History(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.items = torch.nn.Embedding(20, 4)

    def forward(self, values: Tensor, lengths: Tensor) -> Tensor:
        width = int(lengths.max())
        column = torch.arange(width)[None, :]
        valid = column < lengths[:, None]
        begin = lengths.cumsum(0) - lengths
        place = (begin[:, None] + column).clamp(max=values.shape[0] - 1)
        return (self.items(values)[place] * valid[..., None]).sum(1)


def target() -> dict[str, object]:
    return {
        "model": History(),
        "args": (torch.tensor([3, 1, 4, 1, 5, 9, 2]), torch.tensor([2, 4, 1])),
        "dynamic": {"values": {0: "items"}, "lengths": {0: "users"}},
        "more": [((torch.tensor([3, 1, 4]), torch.tensor([0, 3])), {})],
    }
