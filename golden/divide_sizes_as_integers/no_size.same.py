# symfix-golden: path=accounts/memory.py
from torch import Tensor


def in_bytes(size) -> int:
    if isinstance(size, int):
        return size
    return int(float(size[:-3]) * 2**30)


def room(x: Tensor) -> int:
    return in_bytes(x.numel()) + in_bytes("5GiB")
