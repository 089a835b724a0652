import time

import torch
from torch import Tensor

# Each import registers under a name of its own.
SPACE = f"golden{time.time_ns()}"


@torch.library.custom_op(f"{SPACE}::rows", mutates_args=())
def rows(x: Tensor, y: Tensor) -> Tensor:
    return x.new_empty(len(x) + len(y))


@rows.register_fake
def _(x: Tensor, y: Tensor):
    both = [x, y]
    assert len(both) == 2 and len(x.shape) == 1
    n = x.size(0) + (y.size(0) if y.dim() else 1)
    for _ in range(len(x)):
        break
    return torch.empty(n, dtype=x.dtype)


def observe():
    return [tuple(rows(torch.ones(n, device="meta"), torch.ones(2, device="meta")).shape) for n in (3, 0, 1)]
