import torch
from torch import Tensor


def take(x: Tensor, n: Tensor, limit: int) -> Tensor:
    k = n.item()
    torch._check(k >= 0)
    torch._check(k >= 0, lambda: f"bad size {k}")
    torch._check(k >= 0)
    torch._check(k <= limit)
    torch._check(n.sum().item() + 1 >= 0, message=lambda: "bad")
    torch._check((k if limit else 0) >= 0)
    return x[:k]


def observe():
    return [take(torch.arange(5), torch.tensor(n), limit) for n, limit in ((2, 9), (0, 9), (1, 1))]
