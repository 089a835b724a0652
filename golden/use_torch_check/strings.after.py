# symfix-golden: path=torch/_refs/example.py
import torch
from torch import Tensor


def f(x: Tensor, table: list[str]):
    from torch.fx.experimental.symbolic_shapes import sym_eq

    if table.index(
        "( a"
    ) == x.size(0) or "# [ ]".count(
        "[ ",
    ) != x.size(1):
        raise ValueError("( a" " ,)")
    torch._check_value(
        torch.sym_not(sym_eq((x.size(0),), (x.size(1), x.size(1)))),
        lambda: 'it is "( a"',
    )
    return "passed"


def observe():
    found = []
    for table in (["( a"], ["(a", "( a"], ["", "", "( a"]):
        for shape in ((2, 1), (3, 2), (0, 1), (1, 1)):
            try:
                found.append(f(torch.ones(shape), table))
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
    return found
