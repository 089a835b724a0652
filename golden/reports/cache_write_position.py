"""Write new keys at a position that a tensor holds, as in reports of key and value caches of language models.

Class: refusal by a value.
"""

import torch
from torch import Tensor


class Cache(torch.nn.Module):
    def __init__(self, most: int = 16) -> None:
        super().__init__()
        self.most = most
        self.project = torch.nn.Linear(4, 4)

    def forward(self, keys: Tensor, cache: Tensor, start: Tensor) -> Tensor:
        begin = start.item()
        end = begin + keys.shape[1]
        if end > self.most:
            raise ValueError(f"position {end} is behind the cache of {self.most}")
        index = begin + torch.arange(keys.shape[1])
        return cache.index_copy(1, index, self.project(keys))


def target() -> dict[str, object]:
    return {
        "model": Cache(),
        "args": (torch.randn(2, 3, 4), torch.zeros(2, 16, 4), torch.tensor(5)),
        "dynamic": {"keys": {0: "batch", 1: "new"}, "cache": {0: "batch"}},
        "more": [
            ((torch.randn(2, 3, 4), torch.zeros(2, 16, 4), torch.tensor(13)), {}),
            ((torch.randn(2, 3, 4), torch.zeros(2, 16, 4), torch.tensor(14)), {}),
        ],
    }
