# symfix-golden: path=torch/_refs/example.py
# Comments stay beside the operand they are about, wherever the operator stood.
import torch
from torch import Tensor


def f(x: Tensor, y: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and

    torch._check(
        (
            sym_and(x.size(0) == 1,  # one
            y.size(0) == 2)  # two
        ),
        lambda: "head",
    )
    torch._check(
        sym_and(x.size(0) == 1,  # one
        # two, for now
        y.size(0) == 2),
        lambda: "end",
    )
    torch._check(
        (  # only matrices
            x.dim() == 2
            and sym_and(x.size(0) == 1,
            y.size(0) == 2)
        ),
        lambda: "lead",
    )
    torch._check(sym_and(True, *(  # of both
        n != 0 for n in x.shape
    )), lambda: "all")
    return x


def observe():
    found = []
    for x, y in (((1, 3), (2, 4)), ((3, 2), (2, 4)), ((1, 3, 2), (2,)), ((1, 0), (2,))):
        try:
            found.append(f(torch.ones(x), torch.ones(y)))
        except RuntimeError as error:
            found.append(str(error))
    return found
