"""Put features of an image where the text has placeholders, as in reports of vision language models on counted tokens.

Class: int of a tensor.
"""

import torch
from torch import Tensor


class Merge(torch.nn.Module):
    def __init__(self, placeholder: int = 7) -> None:
        super().__init__()
        self.placeholder = placeholder
        self.words = torch.nn.Embedding(10, 4)

    def forward(self, ids: Tensor, image: Tensor) -> Tensor:
        words = self.words(ids)
        where = ids == self.placeholder
        wanted = int(where.sum())
        if wanted != image.shape[0]:
            raise ValueError(f"{wanted} placeholders, but {image.shape[0]} features")
        return words.masked_scatter(where[..., None].expand_as(words), image)


def target() -> dict[str, object]:
    ids = torch.tensor([[1, 7, 7, 3], [7, 2, 0, 0]])
    return {
        "model": Merge(),
        "args": (ids, torch.randn(3, 4)),
        "dynamic": {"ids": {0: "batch", 1: "length"}, "image": {0: "patches"}},
        "more": [((ids, torch.randn(2, 4)), {}), ((torch.full((2, 3), 7), torch.randn(6, 4)), {})],
    }
