"""Refuse anything but probabilities by an assert on values, as in reports of sampling code.

Class: validation of arguments.
"""

import torch
from torch import Tensor


class Entropy(torch.nn.Module):
    def forward(self, probabilities: Tensor) -> Tensor:
        assert (probabilities >= 0).all(), "a probability is negative"
        assert torch.allclose(probabilities.sum(-1), torch.ones(())), "probabilities do not sum to one"
        return -(probabilities * probabilities.clamp(min=1e-9).log()).sum(-1)


def target() -> dict[str, object]:
    return {
        "model": Entropy(),
        "args": (torch.softmax(torch.randn(4, 5), -1),),
        "dynamic": {"probabilities": {0: "rows"}},
        "more": [((-torch.softmax(torch.randn(4, 5), -1),), {}), ((torch.rand(4, 5) + 1,), {})],
    }
