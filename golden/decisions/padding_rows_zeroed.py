"""Zero the rows of padding if there are any, as in public speech encoders.

Class: values that say what is padding.
"""

import torch
from torch import Tensor


class PaddingRowsZeroed(torch.nn.Module):
    def forward(self, x: Tensor, padding: Tensor) -> Tensor:
        hidden = x.tanh()
        if padding.any():
            hidden = hidden * (~padding).unsqueeze(-1)
        return hidden.sum(0)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    sizes = {"x": {0: "rows"}, "padding": {0: "rows"}}
    return {"model": PaddingRowsZeroed(), "args": (torch.randn(5, 4), torch.arange(5) > 3), "dynamic": sizes}
