"""Mask the padding behind the length of each sequence, as in public speech encoders.

Class: loops that are one operation on whole tensors.
"""

import torch
from torch import Tensor


class PaddingMaskByLengths(torch.nn.Module):
    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        mask = torch.zeros(x.size(0), x.size(1))
        for i, length in enumerate(lengths.tolist()):
            mask[i, :length] = 1
        return (x * mask).sum(1)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    sizes = {"x": {0: "rows"}, "lengths": {0: "rows"}}
    args = torch.randn(5, 4), torch.tensor([1, 4, 0, 3, 2])
    return {"model": PaddingMaskByLengths(), "args": args, "dynamic": sizes}
