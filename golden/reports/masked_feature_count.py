"""Replace masked embeddings by features and refuse another count, as in reports of multimodal models.

Class: two sizes that have to be equal.
"""

import torch
from torch import Tensor


class Replace(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Linear(3, 4)

    def forward(self, embeddings: Tensor, mask: Tensor, features: Tensor) -> Tensor:
        features = self.project(features)
        if embeddings[mask].numel() != features.numel():
            raise ValueError(f"{mask.sum()} places, but {features.shape[0]} features")
        return embeddings.masked_scatter(mask[..., None], features)


def target() -> dict[str, object]:
    x, mask = torch.randn(2, 5, 4), torch.tensor([[1, 0, 1, 0, 0], [0, 0, 1, 0, 0]], dtype=torch.bool)
    return {
        "model": Replace(),
        "args": (x, mask, torch.randn(3, 3)),
        "dynamic": {
            "embeddings": {0: "batch", 1: "length"},
            "mask": {0: "batch", 1: "length"},
            "features": {0: "patches"},
        },
        "more": [((x, mask, torch.randn(4, 3)), {}), ((x, torch.ones_like(mask), torch.randn(10, 3)), {})],
    }
