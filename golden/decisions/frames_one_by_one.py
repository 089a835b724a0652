"""Project each frame in a loop over time, as in public video models.

Class: loops that are one operation on whole tensors.
"""

import torch
from torch import Tensor


class FramesOneByOne(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)
        self.head = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU())

    def forward(self, x: Tensor) -> Tensor:
        frames = []
        for t in range(x.size(1)):
            frame = self.norm(x[:, t])
            frames.append(self.head(frame).softmax(-1))
        return torch.stack(frames, dim=1)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    return {"model": FramesOneByOne().eval(), "args": (torch.randn(3, 5, 4),), "dynamic": {"x": {1: "time"}}}
