# symfix-golden: all-functions
import torch
from torch import Tensor


def reward(x: Tensor, *, names=()) -> float:
    return float(torch.as_tensor(x).sum().item())
