# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def rank(a: Tensor, dim: int) -> int:
    if a.ndim == 0 or len(a.shape) == 1 or a.dtype == torch.bool or dim == 0:
        return 0
    return a.dim() if isinstance(a.shape[0], int) and a.shape is not None else 1
