# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


@torch.library.register_fake("golden_lengths::counted")
def counted(tensors: list[Tensor], x: Tensor, maybe, names: dict[str, Tensor]) -> int:
    total = len(tensors) + len(x.shape) + len(names) + len(maybe)
    for k in range(len(x)):
        total += k
    return total


@torch.library.register_fake("golden_lengths::len_of")
def len_of(x: Tensor, len) -> int:
    return len(x)
