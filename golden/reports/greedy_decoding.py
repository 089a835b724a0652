"""Decode word by word until the end sign comes, as in reports of sequence generation.

Class: values that decide how often a loop runs.
"""

import torch
from torch import Tensor


class Greedy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(5, 4)
        self.head = torch.nn.Linear(4, 5)

    def forward(self, memory: Tensor) -> Tensor:
        state, words = memory.mean(0), []
        for _ in range(6):
            word = self.head(state).argmax()
            words.append(word)
            if word == 0:
                break
            state = state + self.words(word)
        return torch.stack(words)


def target() -> dict[str, object]:
    return {"model": Greedy(), "args": (torch.randn(3, 4),), "dynamic": {"memory": {0: "source"}}}
