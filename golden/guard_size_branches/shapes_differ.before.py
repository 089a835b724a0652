# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def fitted(mask: Tensor, input: Tensor) -> Tensor:
    """The mask in the shape of the input."""
    if mask.shape != input.shape:
        mask = torch.broadcast_to(mask, input.shape)
    return mask


def observe():
    shapes = (((3,), (2, 3)), ((2, 3), (2, 3)), ((1, 3), (2, 3)))
    return [fitted(torch.ones(one), torch.ones(other)) for one, other in shapes]
