# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def stack(tensors: list[Tensor]) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_eq

    entry = tensors[0].shape
    for i in range(1, len(tensors)):
        torch._check(
            sym_eq(tensors[i].shape, entry),
            lambda: (
                f"stack expects each tensor to be equal size, but got {entry} at entry 0 "
                f"and {tensors[i].shape} at entry {i}"
            ),
        )
    return torch.stack(tensors)


def even(x: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and

    n = x.size(0)
    torch._check_with(
        AssertionError,
        n % 2 == 0,
        lambda: f"dimension must be even, but is {n}",
    )
    torch._check(sym_and(0 < n, n < 100))
    return x[: n // 2]


def observe():
    found = []
    for f, given in (
        (stack, [torch.ones(2, 3), torch.ones(2, 3)]),
        (stack, [torch.ones(2, 3), torch.ones(4, 3)]),
        (stack, [torch.ones(1)]),
        (even, torch.ones(4, 3)),
        (even, torch.ones(5)),
        (even, torch.ones(1)),
    ):
        try:
            found.append(f(given))
        except (AssertionError, RuntimeError) as error:
            found.append(str(error))
    return found
