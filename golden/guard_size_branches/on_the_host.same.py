# symfix-golden: all-functions path=accounts/files.py
import numpy as np
import torch
from torch import Tensor


class Heads:
    def __init__(self, y: Tensor) -> None:
        self.shape = y.shape[:1]
        if y.size(-1) == 1:
            self.shape += y.shape[-1:]

    def scaled(self, y: Tensor) -> Tensor:
        if y.shape[-1] == 2:
            y = torch.cat([y, y[..., :1]], -1)
        return y

    def times(self, other: object) -> object:
        if isinstance(other, Tensor) and other.numel() == 1:
            return other
        return NotImplemented


def save(x: Tensor, path: str) -> None:
    if x.numel() > 0:
        np.save(path, x.cpu())


def unscale(model: torch.nn.Module, weight: float) -> None:
    if weight == 1.0:
        return
    for layer in model.modules():
        layer.scale(weight)
