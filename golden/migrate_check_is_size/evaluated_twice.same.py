import torch


def f(n, limit):
    torch._check_is_size(n.item(), max=limit)
    torch._check_is_size(n, None, limit)
    return n
