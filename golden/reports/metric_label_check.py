"""Count a confusion matrix after a check of the labels, as in reports of metric libraries.

Class: validation of arguments.
"""

import torch
from torch import Tensor


class Confusion(torch.nn.Module):
    def __init__(self, classes: int = 3, validate: bool = True) -> None:
        super().__init__()
        self.classes, self.validate = classes, validate

    def forward(self, predicted: Tensor, wanted: Tensor) -> Tensor:
        if self.validate:
            found = torch.unique(wanted)
            if len(found) > self.classes:
                raise RuntimeError(f"{len(found)} labels where {self.classes} were expected")
        pairs = wanted * self.classes + predicted
        counts = torch.zeros(self.classes**2).index_add(0, pairs, torch.ones(pairs.shape[0]))
        return counts.reshape(self.classes, self.classes)


def target() -> dict[str, object]:
    predicted = torch.tensor([0, 2, 1, 1, 0, 2])
    return {
        "model": Confusion(),
        "args": (predicted, torch.tensor([0, 2, 2, 1, 1, 0])),
        "dynamic": {"predicted": {0: "samples"}, "wanted": {0: "samples"}},
        "more": [((predicted, torch.zeros(6, dtype=torch.long)), {})],
    }
