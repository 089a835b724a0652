# symfix-golden: path=layers/streaming.py
import torch
from torch import Tensor


class Streaming(torch.nn.Module):
    def _state(self, x: Tensor, n: int) -> Tensor:
        if x.size(0) != n:
            raise ValueError("state")
        return x[: min(n, x.size(0))]

    def forward(self, x: Tensor) -> Tensor:
        return self._state(x, 2)

    @torch.jit.export
    def infer(self, x: Tensor) -> Tensor:
        return self._state(x, 1)
