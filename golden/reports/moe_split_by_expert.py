"""Send tokens to experts in runs that `bincount` counts, as in reports of mixtures of experts.

Class: a size that the code knows.
"""

import torch
from torch import Tensor


class Mixture(torch.nn.Module):
    def __init__(self, experts: int = 3) -> None:
        super().__init__()
        self.number = experts
        self.experts = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(experts))

    def forward(self, tokens: Tensor, choice: Tensor) -> Tensor:
        order = choice.argsort(stable=True)
        counts = torch.bincount(choice, minlength=self.number)
        parts = tokens[order].split(counts.tolist())
        done = [expert(part) for expert, part in zip(self.experts, parts)]
        return torch.empty_like(tokens).index_copy(0, order, torch.cat(done))


def target() -> dict[str, object]:
    tokens = torch.randn(6, 4)
    return {
        "model": Mixture(),
        "args": (tokens, torch.tensor([0, 2, 1, 1, 0, 2])),
        "dynamic": {"tokens": {0: "tokens"}, "choice": {0: "tokens"}},
        "more": [((tokens, torch.ones(6, dtype=torch.long)), {}), ((tokens, torch.tensor([0, 2, 2, 0, 0, 0])), {})],
    }
