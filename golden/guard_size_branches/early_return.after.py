# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def logsumexp(a: Tensor, dim: int) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    if guard_or_false(a.numel() == 0):
        return torch.sum(torch.exp(a), dim).log()
    maxes = torch.amax(a, dim, keepdim=True)
    return torch.log(torch.sum(torch.exp(a - maxes), dim)) + maxes.squeeze(dim)


def observe():
    return [logsumexp(a, 1) for a in (torch.arange(6.0).view(2, 3), torch.ones(2, 0), torch.ones(1, 3))]
