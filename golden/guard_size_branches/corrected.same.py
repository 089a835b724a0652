# symfix-golden: all-functions path=accounts/layers.py
import numpy as np
import torch
from torch import Tensor


def padded(x: Tensor, parts: int) -> Tensor:
    n = x.size(0)
    if n % parts != 0:
        x = torch.nn.functional.pad(x, (0, parts - n % parts))
    even = x.size(0) % 2 == 0
    if even:
        x = x[1:]
    return x


def joined(x: Tensor, y: Tensor) -> Tensor:
    if x.shape != y.shape:
        x = x[:-1]
    return x + y


def image(im: np.ndarray, channels: int) -> np.ndarray:
    c = im.shape[2]
    return im if c == channels else im[..., :channels]


def first(x: Tensor, channels: int) -> np.ndarray:
    return image(x, channels)


def observe() -> list[Tensor]:
    return [padded(torch.arange(5.0), 4), joined(torch.ones(3), torch.ones(3)), joined(torch.ones(4), torch.ones(3))]
