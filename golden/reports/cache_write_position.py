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
        end = begin + keys.shape[0]
        if end > self.most:
            raise ValueError(f"position {end} is behind the cache of {self.most}")
        index = torch.arange(keys.shape[0]) + begin
        return cache.index_copy(0, index, self.project(keys))


def target() -> dict[str, object]:
    keys, cache = torch.randn(3, 4), torch.zeros(16, 4)
    return {
        "model": Cache(),
        "args": (keys, cache, torch.tensor(5)),
        "dynamic": {"keys": {0: "new"}},
        "more": [((keys, cache, torch.tensor(13)), {}), ((keys, cache, torch.tensor(14)), {})],
    }
