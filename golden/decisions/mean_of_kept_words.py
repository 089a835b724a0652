"""Average over words that are kept, or over all, as in public sentence encoders.

Class: values that say what is padding.
"""

import torch
from torch import Tensor


class MeanOfKeptWords(torch.nn.Module):
    def forward(self, x: Tensor, kept: Tensor) -> Tensor:
        weights = kept.to(x.dtype)
        count = weights.sum()
        if count == 0:
            return x.mean(0)
        return (x * weights[:, None]).sum(0) / count


def target() -> dict[str, object]:
    torch.manual_seed(0)
    sizes = {"x": {0: "words"}, "kept": {0: "words"}}
    return {"model": MeanOfKeptWords(), "args": (torch.randn(5, 4), torch.arange(5) < 3), "dynamic": sizes}
