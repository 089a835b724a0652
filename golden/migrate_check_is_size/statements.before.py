import torch
from torch import Tensor


def take(x: Tensor, n: Tensor, limit: int) -> Tensor:
    k = n.item()
    torch._check_is_size(k)
    torch._check_is_size(k, lambda: f"bad size {k}")
    torch._check_is_size(k, max=limit)
    torch._check_is_size(n.sum().item() + 1, message=lambda: "bad")
    torch._check_is_size(k if limit else 0)
    return x[:k]


def observe():
    return [take(torch.arange(5), torch.tensor(n), limit) for n, limit in ((2, 9), (0, 9), (1, 1))]
