"""Leave the attention mask out where nothing is masked, as in public attention code.

Class: values that say what is padding.
"""

import torch
from torch import Tensor


class MaskAllTrue(torch.nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        scores = x @ x.transpose(0, 1)
        if not mask.all():
            scores = scores.masked_fill(~mask, -10000.0)
        return scores.softmax(-1) @ x


def target() -> dict[str, object]:
    torch.manual_seed(0)
    sizes = {"x": {0: "rows"}, "mask": {0: "rows"}}
    return {
        "model": MaskAllTrue(),
        "args": (torch.randn(5, 4), torch.arange(5) < 3),
        "dynamic": {"x": {0: "rows"}, "mask": {0: "rows"}},
    }
