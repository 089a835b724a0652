# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


@torch.jit.script
def scripted(x: Tensor) -> Tensor:
    if x.size(0) == 0:
        return x
    return x / x.size(0)


def maybe_scripted(x: Tensor) -> Tensor:
    if not torch.jit.is_scripting() and x.size(0) == 0:
        return x
    return x / x.size(0)
