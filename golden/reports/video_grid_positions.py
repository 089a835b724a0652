"""Make positions of images whose grids a tensor holds, as in reports of vision language models.

Class: slices by values in a loop.
"""

import torch
from torch import Tensor


class Grids(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rows = torch.nn.Embedding(16, 4)
        self.columns = torch.nn.Embedding(16, 4)

    def forward(self, patches: Tensor, grids: Tensor) -> Tensor:
        places = []
        for grid in grids:
            height, width = int(grid[0]), int(grid[1])
            row = torch.arange(height)[:, None].expand(height, width)
            column = torch.arange(width)[None, :].expand(height, width)
            places.append(torch.stack([row.flatten(), column.flatten()], dim=1))
        place = torch.cat(places)
        return torch.cat([patches, self.rows(place[:, 0]) + self.columns(place[:, 1])], dim=1)


def target() -> dict[str, object]:
    return {
        "model": Grids(),
        "args": (torch.randn(10, 4), torch.tensor([[2, 3], [2, 2]])),
        "dynamic": {"patches": {0: "patches"}},
        "more": [
            ((torch.randn(8, 4), torch.tensor([[2, 2], [1, 4]])), {}),
            ((torch.randn(9, 4), torch.tensor([[2, 3], [2, 2]])), {}),
        ],
    }
