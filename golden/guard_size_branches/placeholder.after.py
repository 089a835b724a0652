# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def broadcast_to(x: Tensor, wanted: torch.SymInt) -> torch.SymInt:
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    if guard_or_false(wanted == -1):
        return x.size(0)
    if x.size(0) == 1:
        return wanted
    raise ValueError("cannot be broadcast")


def observe():
    found = []
    for n, wanted in ((3, -1), (1, 4), (3, 4)):
        try:
            found.append(broadcast_to(torch.ones(n), wanted))
        except ValueError as error:
            found.append(str(error))
    return found
