# symfix-golden: all-functions path=accounts/losses.py
import torch
from torch import Tensor


def require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


def loss(x: Tensor, weight: Tensor) -> Tensor:
    require(weight.shape[0] == x.shape[1] and weight.dim() == 1, "one weight per class")
    return x * weight


def observe() -> list[Tensor]:
    return [loss(torch.ones(2, 3), torch.ones(3))]
