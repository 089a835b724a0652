"""Sample sharper or softer by how sure the model is, as in public generation code.

Class: a value that chooses between two values.
"""

import torch
from torch import Tensor


class TemperatureOrGreedy(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        probabilities = x.softmax(-1)
        sure = probabilities.max() > 0.9
        temperature = 0.5 if sure else 2.0
        return (x / temperature).softmax(-1)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": TemperatureOrGreedy().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
