"""Skip the experts that got no token, as in reports of mixtures of experts that loop over experts.

Class: a body that does nothing for no rows.
"""

import torch
from torch import Tensor


class Mixture(torch.nn.Module):
    def __init__(self, experts: int = 3) -> None:
        super().__init__()
        self.experts = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(experts))
        self.gate = torch.nn.Linear(4, experts)

    def forward(self, tokens: Tensor) -> Tensor:
        choice = self.gate(tokens).argmax(-1)
        result = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            rows = torch.where(choice == number)[0]
            if rows.numel() == 0:
                continue
            result = result.index_copy(0, rows, expert(tokens[rows]))
        return result


def target() -> dict[str, object]:
    torch.manual_seed(3)
    tokens = torch.randn(8, 4)
    return {
        "model": Mixture(),
        "args": (tokens,),
        "dynamic": {"tokens": {0: "tokens"}},
        "more": [((tokens[:1].repeat(8, 1),), {}), ((9 * torch.randn(12, 4),), {})],
    }
