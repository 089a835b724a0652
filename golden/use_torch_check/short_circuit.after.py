# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def second_dimension(x: Tensor, y: Tensor):
    from torch.fx.experimental.symbolic_shapes import sym_and

    # unsafe: a vector raises IndexError
    torch._check_value(sym_and(x.size(0) == 1, y.size(1) == 1), lambda: "sizes")
    return "passed"


def rank_found(x, y):
    from torch.fx.experimental.symbolic_shapes import sym_and

    n, m = x.shape
    assert y.dim() == 2
    torch._check_value(
        sym_and(x.size(1) == n, y.size(1) == m, n != 0),
        lambda: f"not square: {n} {m}",
    )
    return "passed"


def rank_in_front(x, y):
    from torch.fx.experimental.symbolic_shapes import sym_and

    torch._check_value(
        x.dim() == 2 and sym_and(x.size(1) == y.size(0), x.size(0) != 0),
        lambda: "no matrices",
    )
    return "passed"


def counted(x, y):
    from torch.fx.experimental.symbolic_shapes import sym_and

    for d in range(1, x.dim()):
        torch._check_value(sym_and(x.size(0) != 0, x.size(d) != 0), lambda: "empty")
    return "passed"


def every_pair(x, y):
    if any(a != b for a, b in zip(x.shape, y.shape)):
        raise ValueError("shapes")
    return "passed"


def observe():
    found = []
    for f in (second_dimension, rank_found, rank_in_front, counted, every_pair):
        for x, y in (
            ((2, 2), (3, 2)), ((1, 3), (3, 1)), ((2, 3), (2, 3)), ((1, 1), (1, 1)), ((2, 3), (3, 2)), ((0, 2), (2, 0)),
            ((3, 3), (3, 1)), ((2,), (2, 3)),
        ):
            try:
                found.append(f(torch.ones(x), torch.ones(y)))
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
    return found
