# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def loss(input: Tensor, target: Tensor) -> Tensor:
    if input.size(0) != target.size(0):
        raise ValueError(f"expected {input.size(0)} targets, got {target.size(0)}")
    if not (input.dim() == 2 and input.size(1) > 0):
        raise RuntimeError("input must be a matrix with columns")
    if target.dim() == 1 and target.size(0) == 0 or input.shape[1] < 1:
        # nothing to learn from
        raise IndexError(
            "target is empty: "
            f"{target.shape}"
        )
    return input.sum() - target.sum()


def shapes(a: Tensor, b: Tensor) -> None:
    """Raises TypeError where the shapes differ."""
    if a.shape != b.shape: raise TypeError
    if a.dim() > 1 and a.shape[1:] != b.shape[1:]:
        raise NotImplementedError("größer")


def observe():
    found = []
    for f in (loss, shapes):
        for a in (torch.ones(2, 3), torch.ones(2, 0), torch.ones(0, 3)):
            for b in (torch.ones(2), torch.ones(3), torch.ones(0), torch.ones(2, 3)):
                try:
                    found.append(f(a, b))
                except Exception as error:
                    words = "" if isinstance(error, TypeError) else str(error)
                    found.append([type(error).__name__, words])
    return found
