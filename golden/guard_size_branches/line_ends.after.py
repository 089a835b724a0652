# symfix-golden: path=torch/_refs/example.py
import torch


def f(a: torch.Tensor):
    from torch.fx.experimental.symbolic_shapes import guard_or_false

    s = 'größe'; n = a.size(0)  # größe
    return s if guard_or_false(n == 0) else n


def observe():
    return [f(torch.ones(n, 3)) for n in (2, 0, 1)]
