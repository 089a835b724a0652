"""Average the loss of masked words and give zero where none is masked, as in reports of language model training.

Class: an early return for nothing.
"""

import torch
import torch.nn.functional as F
from torch import Tensor


class MaskedLoss(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.head = torch.nn.Linear(4, 9)

    def forward(self, hidden: Tensor, labels: Tensor) -> Tensor:
        known = labels != -100
        logits, wanted = self.head(hidden[known]), labels[known]
        if wanted.shape[0] == 0:
            return logits.sum()
        return F.cross_entropy(logits, wanted)


def target() -> dict[str, object]:
    hidden = torch.randn(6, 4)
    return {
        "model": MaskedLoss(),
        "args": (hidden, torch.tensor([1, -100, 5, -100, 8, 0])),
        "dynamic": {"hidden": {0: "words"}, "labels": {0: "words"}},
        "more": [((hidden, torch.full((6,), -100)), {})],
    }
