"""Collect words until the end sign comes, as in public decoders.

Class: values that decide what no operator keeps.
"""

import torch
from torch import Tensor


class WordsInList(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        words = []
        for row in x.sum(1)[:3]:
            words.append(row)
            if row > 0:
                break
        return torch.stack(words)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": WordsInList().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
