"""Count the steps until a state rests, as in public diffusion samplers.

Class: values that end a loop.
"""

import torch
from torch import Tensor


class CountStepsToRest(torch.nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        steps = torch.zeros((), dtype=torch.int64)
        state = x.sum(0)
        while state.abs().max() > 0.1 and steps < 30:
            state = state * 0.7
            steps = steps + 1
        return state, steps


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": CountStepsToRest().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
