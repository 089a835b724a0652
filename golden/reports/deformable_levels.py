"""Check that the levels of a feature pyramid fill the sequence, as in reports of deformable detection transformers.

Class: refusal by a value.
"""

import torch
from torch import Tensor


class Levels(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.value = torch.nn.Linear(4, 4)

    def forward(self, hidden: Tensor, shapes: Tensor) -> Tensor:
        if (shapes[:, 0] * shapes[:, 1]).sum() != hidden.shape[1]:
            raise ValueError("the shapes of the levels do not make up the sequence")
        first = torch.repeat_interleave(shapes.prod(1), shapes.prod(1), output_size=hidden.shape[1])
        return self.value(hidden) / first[None, :, None]


def target() -> dict[str, object]:
    return {
        "model": Levels(),
        "args": (torch.randn(2, 10, 4), torch.tensor([[2, 3], [2, 2]])),
        "dynamic": {"hidden": {0: "batch", 1: "length"}},
        "more": [
            ((torch.randn(2, 5, 4), torch.tensor([[2, 2], [1, 1]])), {}),
            ((torch.randn(2, 9, 4), torch.tensor([[2, 3], [2, 2]])), {}),
        ],
    }
