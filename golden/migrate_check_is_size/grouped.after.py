import torch


def f(a: int, b: int, limit: int):
    torch._check((not a) >= 0)
    torch._check((a if b else 1) >= 0)
    torch._check(a >= 0)
    torch._check(a <= limit)
    torch._check(b >= 0)
    torch._check(b <= 7)
    return a


def observe():
    found = []
    for a, b, limit in ((2, 5, 3), (0, 1, 3), (3, 0, 3), (4, 1, 3), (-1, 1, 3), (1, 9, 2)):
        try:
            found.append(f(a, b, limit))
        except RuntimeError:
            found.append("refused")
    return found
