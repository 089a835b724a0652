from somewhere import torch_helpers


def f(n):
    torch_helpers._check_is_size(n)
    _check_is_size(n)
