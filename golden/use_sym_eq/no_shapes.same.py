from typing import Optional

import torch
from torch import Tensor


def f(x: Tensor, y: Tensor, shape: Optional[torch.Size], other=None):
    torch._check((x.shape, x.device) == (y.shape, y.device), lambda: "more than sizes")
    torch._check((*x.shape, x.dtype) == (*y.shape, y.dtype), lambda: "more than sizes")
    torch._check(x.shape == shape, lambda: "None, maybe")
    torch._check(x.shape == other, lambda: "None, maybe")
    listed = list(y.shape)
    torch._check(x.shape == listed, lambda: "never equal")
