"""Leave out an update that is not finite, as in public mixed-precision code.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class SkipBadStep(torch.nn.Module):
    def forward(self, x: Tensor, update: Tensor) -> Tensor:
        if torch.isfinite(update).all():
            x = x - 0.1 * update
        return x


def target() -> dict[str, object]:
    torch.manual_seed(0)
    sizes = {"x": {0: "rows"}, "update": {0: "rows"}}
    return {"model": SkipBadStep(), "args": (torch.randn(5, 4), torch.randn(5, 4)), "dynamic": sizes}
