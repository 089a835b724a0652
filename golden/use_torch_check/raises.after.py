# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def loss(input: Tensor, target: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and

    torch._check_value(
        input.size(0) == target.size(0),
        lambda: f"expected {input.size(0)} targets, got {target.size(0)}",
    )
    torch._check(
        input.dim() == 2 and input.size(1) > 0,
        lambda: "input must be a matrix with columns",
    )
    # nothing to learn from
    torch._check_index(
        sym_and(target.dim() != 1 or target.size(0) != 0, input.shape[1] >= 1),
        lambda: (
            "target is empty: "
            f"{target.shape}"
        ),
    )
    return input.sum() - target.sum()


def shapes(a: Tensor, b: Tensor) -> None:
    """Raises TypeError where the shapes differ."""
    from torch.fx.experimental.symbolic_shapes import sym_eq

    torch._check_type(sym_eq(a.shape, b.shape))
    torch._check_not_implemented(
        a.dim() <= 1 or sym_eq(a.shape[1:], b.shape[1:]),
        lambda: "größer",
    )


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
