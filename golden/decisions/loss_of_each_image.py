"""Add up the loss of each image of a batch, as in public detectors.

Class: loops that are one operation on whole tensors.
"""

import torch
from torch import Tensor


class LossOfEachImage(torch.nn.Module):
    def forward(self, x: Tensor, weights: Tensor) -> Tensor:
        loss = x.new_zeros(())
        for i in range(x.size(0)):
            loss = loss + (x[i] * weights[i]).pow(2).mean()
        return loss / x.size(0)


def target() -> dict[str, object]:
    torch.manual_seed(0)
    sizes = {"x": {0: "images"}, "weights": {0: "images"}}
    args = torch.randn(5, 4).requires_grad_(), torch.rand(5)
    return {"model": LossOfEachImage(), "args": args, "dynamic": sizes}
