"""Drop a mask that hides nothing before attention, as in reports of linear attention models.

Class: a shortcut where two tensors are equal.
"""

import torch
from torch import Tensor


class MaskedMean(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Linear(4, 4)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        hidden = self.project(hidden)
        if torch.all(mask == 1):
            mask = None
        if mask is not None:
            hidden = hidden * mask[:, None]
        return hidden.cumsum(0)


def target() -> dict[str, object]:
    x = torch.randn(4, 4)
    return {
        "model": MaskedMean(),
        "args": (x, torch.tensor([0, 1, 1, 1])),
        "dynamic": {"hidden": {0: "length"}, "mask": {0: "length"}},
        "more": [((x, torch.ones(4, dtype=torch.long)), {})],
    }
