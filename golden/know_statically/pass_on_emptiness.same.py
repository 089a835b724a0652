# symfix-golden: path=torch/_inductor/fx_passes/example.py
from torch import Tensor


def is_empty(x: Tensor) -> bool:
    return len(x.shape) == 1 and x.shape[0] == 0
