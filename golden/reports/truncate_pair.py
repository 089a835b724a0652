"""Cut a pair of texts if one is too long, by `|` of two comparisons, as in reports of rerankers.

Class: a SymBool under an operator of bools.
"""

import torch
from torch import Tensor


class Pair(torch.nn.Module):
    def __init__(self, most: int = 4) -> None:
        super().__init__()
        self.most = most
        self.words = torch.nn.Embedding(9, 3)

    def forward(self, question: Tensor, answer: Tensor) -> Tensor:
        if (question.shape[0] > self.most) | (answer.shape[0] > self.most):
            question, answer = question[: self.most], answer[: self.most]
        return self.words(question).sum(0) - self.words(answer).sum(0)


def target() -> dict[str, object]:
    return {
        "model": Pair(),
        "args": (torch.tensor([1, 5, 3, 4, 8, 0]), torch.tensor([2, 7, 2])),
        "dynamic": {"question": {0: "question"}, "answer": {0: "answer"}},
        "more": [((torch.arange(3), torch.arange(4)), {}), ((torch.arange(2), torch.arange(7)), {})],
    }
