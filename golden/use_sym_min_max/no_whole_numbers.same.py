from typing import Optional

import torch
from torch import Tensor


def f(x: Tensor, limit: float, most: Optional[int], least: int = None):
    n = x.size(0)
    if limit:
        n = n / 2
    return (
        min(x.size(0), limit),
        min(x.size(0), most),
        max(x.size(0), least),
        min(x.size(0), float("inf")),
        max(x.size(0), None),
        max(x.size(0), n),
    )
