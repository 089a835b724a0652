"""Count the pooled steps by `math.ceil` of a quotient, as in reports of speech recognition encoders.

Class: float arithmetic on sizes.
"""

import math

import torch
from torch import Tensor


class Pooling(torch.nn.Module):
    def __init__(self, stride: int = 4) -> None:
        super().__init__()
        self.stride = stride

    def forward(self, x: Tensor) -> Tensor:
        steps = math.ceil(x.shape[0] / self.stride)
        padded = torch.cat([x, x.new_zeros(steps * self.stride - x.shape[0], 3)])
        return padded.reshape(steps, self.stride, 3).amax(1)


def target() -> dict[str, object]:
    return {
        "model": Pooling(),
        "args": (torch.randn(10, 3),),
        "dynamic": {"x": {0: "time"}},
        "more": [((torch.randn(12, 3),), {}), ((torch.randn(5, 3),), {})],
    }
