import torch


def f(a: int, b: int, limit: int):
    torch._check_is_size(not a)
    torch._check_is_size(a if b else 1)
    torch._check_is_size(a, max=limit)
    torch._check_is_size(b, max=7)
    return a


def observe():
    found = []
    for a, b, limit in ((2, 5, 3), (0, 1, 3), (3, 0, 3), (4, 1, 3), (-1, 1, 3), (1, 9, 2)):
        try:
            found.append(f(a, b, limit))
        except RuntimeError:
            found.append("refused")
    return found
