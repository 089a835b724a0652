# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


@torch.library.register_fake("golden_lengths::counted")
def counted(tensors: list[Tensor], x: Tensor, maybe, names: dict[str, Tensor]) -> int:
    total = len(tensors) + len(x.shape) + len(names) + len(maybe)
    for k in range(len(x)):
        total += k
    total += len(torch.where(x > 0)) + len(x.split(2)) + len(torch.tensor_split(x, sections=2, dim=0))
    return total + len(torch.max(x, 0)) + len(x.unbind()) + len(x.numpy())


@torch.library.register_fake("golden_lengths::len_of")
def len_of(x: Tensor, len) -> int:
    return len(x)


@torch.library.register_fake("golden_lengths::of_a_shape")
def of_a_shape(shape) -> int:
    return len(shape) if shape.numel() else 0
