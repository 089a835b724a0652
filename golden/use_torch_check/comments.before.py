# symfix-golden: path=torch/_refs/example.py
# What is said inside a condition stays where it is said; what is said elsewhere stands above.
import torch
from torch import Tensor


def same_batch(x: Tensor, y: Tensor) -> Tensor:
    if (
        x.size(0) != y.size(0)  # one row for each
        # the channels come second
        or x.size(1) != 3  # red, green, blue
    ):
        # so far nobody asked for more
        raise ValueError("sizes differ")
    if x.dim() == 2 and (
        # of the second
        y.size(0) == 0 or y.size(1) == 0
    ):
        raise IndexError("empty")
    assert (x.size(0) > 1  # a mean of one is itself
            and y.size(0) > 1), "too few"
    if x.size(1) != y.size(  # of the target
        1
    ):
        raise RuntimeError(
            f"expected {x.size(1)}, "  # first
            f"got {y.size(1)}"
        )
    return x


def filled(x: Tensor) -> Tensor:
    if not all(
        # each of them
        n > 0
        for n in x.shape
    ):
        raise ValueError("empty")
    return x


def observe():
    found = []
    for f in (lambda t: same_batch(t, t), filled):
        for shape in ((2, 3), (1, 3), (2, 2), (0, 3)):
            try:
                found.append(tuple(f(torch.ones(shape)).shape))
            except (RuntimeError, ValueError, IndexError, AssertionError) as error:
                found.append(str(error))
    return found
