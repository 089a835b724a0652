"""Feed the best word back until the end sign comes, as in public decoders.

Class: values that end a loop.
"""

import torch
from torch import Tensor


class GreedyStateDecoding(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(5, 4)
        self.head = torch.nn.Linear(4, 5)

    def forward(self, x: Tensor) -> Tensor:
        state = x.mean(0)
        for _ in range(6):
            word = self.head(state).argmax()
            if word == 0:
                break
            state = state + self.words(word)
        return state


def target() -> dict[str, object]:
    torch.manual_seed(2)
    return {"model": GreedyStateDecoding().eval(), "args": (torch.randn(5, 4),), "dynamic": {"x": {0: "rows"}}}
