"""Average the messages of each node; the number of nodes is the largest index, as in reports of graph libraries.

Class: int of a tensor.
"""

import torch
from torch import Tensor


class MeanAggregation(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.update = torch.nn.Linear(5, 4)

    def forward(self, messages: Tensor, index: Tensor) -> Tensor:
        size = int(index.max()) + 1
        total = messages.new_zeros(size, messages.shape[1]).index_add(0, index, messages)
        count = messages.new_zeros(size).index_add(0, index, torch.ones_like(index, dtype=messages.dtype))
        return self.update(total / count.clamp(min=1)[:, None])


def target() -> dict[str, object]:
    messages = torch.randn(6, 5)
    return {
        "model": MeanAggregation(),
        "args": (messages, torch.tensor([0, 2, 2, 1, 0, 3])),
        "dynamic": {"messages": {0: "edges"}, "index": {0: "edges"}},
        "more": [
            ((messages, torch.zeros(6, dtype=torch.long)), {}),
            ((messages, torch.tensor([9, 0, 1, 1, 9, 2])), {}),
        ],
    }
