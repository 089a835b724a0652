# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def while_it_is_short(x: Tensor, wanted: int):
    while x.shape[0] < wanted:
        missing = x.shape[0] - 1
        if missing == 0:
            return x
        x = torch.cat([x, x[:missing]])
    return x


def what_it_goes_through(x: Tensor):
    found = []
    for c in range(x.shape[0]) if x.shape[0] != 1 else [0]:
        found.append(x[c])
    return found
