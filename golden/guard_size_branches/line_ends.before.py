# symfix-golden: path=torch/_refs/example.py
import torch


def f(a: torch.Tensor):
    s = 'größe'; n = a.size(0)  # größe
    return s if n == 0 else n


def observe():
    return [f(torch.ones(n, 3)) for n in (2, 0, 1)]
