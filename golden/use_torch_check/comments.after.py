# symfix-golden: path=torch/_refs/example.py
# What is said inside a condition stays where it is said; what is said elsewhere stands above.
import torch
from torch import Tensor


def same_batch(x: Tensor, y: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and

    # so far nobody asked for more
    torch._check_value(
        sym_and(
            x.size(0) == y.size(0),  # one row for each
            # the channels come second
            x.size(1) == 3,  # red, green, blue
        ),
        lambda: "sizes differ",
    )
    torch._check_index(
        x.dim() != 2 or sym_and(
            # of the second
            y.size(0) != 0, y.size(1) != 0,
        ),
        lambda: "empty",
    )
    torch._check(
        sym_and(x.size(0) > 1,  # a mean of one is itself
            y.size(0) > 1),
        lambda: "too few",
    )
    torch._check(
        x.size(1) == y.size(  # of the target
            1
        ),
        lambda: (
            f"expected {x.size(1)}, "  # first
            f"got {y.size(1)}"
        ),
    )
    return x


def filled(x: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and

    torch._check_value(
        sym_and(True, *(
            # each of them
            n > 0
            for n in x.shape
        )),
        lambda: "empty",
    )
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
