# symfix-golden: path=torch/_refs/example.py
from torch import Tensor
from torch.nn.functional import pad


def fitted(a: Tensor, length: int) -> Tensor:
    if a.size(0) < a.size(1):
        return pad(a, (0, length))
    return a[:length]


def aligned(a: Tensor):
    last = a.size(-1)
    return last if last % 16 == 0 else last + 16 - last % 16


def wrapped(a: Tensor, b: Tensor):
    index = a.size(0) - b.size(0)
    return index if index >= 0 else index + a.size(0)


def reflected(a: Tensor, low: int):
    def folded(coords: Tensor, high: int) -> Tensor:
        if low == high:
            return coords * 0
        span = (high - low) / 2
        return coords % span

    return folded(a, a.size(0))


def scaled(a: Tensor) -> float:
    last = a.size(0)
    return 1.0 if last == 1 else 2.0 / (last - 1)


def stretched(a: Tensor, low: int):
    high = a.size(0)
    if low != high:
        a /= high - low
    return a


def shared_out(a: Tensor, low: int):
    high, span = a.size(0), 1
    if low == high:
        return a
    span = high - low
    return a / span
