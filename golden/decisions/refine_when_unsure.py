"""Run a second pass where the first one is not sure, as in public cascades.

Class: a value that decides which layers run.
"""

import torch
from torch import Tensor


class RefineWhenUnsure(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fast = torch.nn.Linear(4, 3)
        self.slow = torch.nn.Linear(4, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        logits = self.fast(x)
        sure = logits.softmax(-1).amax(-1).mean()
        if sure < 0.6:
            refined = self.slow(x)
            logits = (logits + refined) / 2
            sure = logits.softmax(-1).amax(-1).mean()
        return logits, sure


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": RefineWhenUnsure().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
