# symfix-golden: all-functions path=accounts/files.py
import torch
import triton
from torch import Tensor, nn


class Heads(nn.Module):
    def __init__(self, y: Tensor, heads: int = 1, *names: str) -> None:
        if y.size(0) != y.size(1):
            raise ValueError("not square")


def load(model: nn.Module, weights: Tensor, *names: str) -> None:
    if weights.size(0) != weights.size(1):
        raise ValueError("not square")
    model.load_state_dict({name: weights for name in names})


def tiles(x: Tensor, *warps: int) -> int:
    if x.size(0) != x.size(1):
        raise ValueError("not square")
    return triton.next_power_of_2(x.size(0))


def drawn(x: Tensor, *colours: str) -> object:
    if x.size(0) != x.size(1):
        raise ValueError("not square")
    return x.numpy()
