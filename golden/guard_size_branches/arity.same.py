# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def unbind(t: Tensor, dim: int):
    if t.shape[dim] == 0:
        return ()
    return tuple(torch.squeeze(s, dim) for s in torch.tensor_split(t, t.shape[dim], dim))
