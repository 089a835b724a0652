# symfix-golden: path=torch/_inductor/example.py
from .lowering import lowerings, register_lowering


@register_lowering("aten.split")
def split(x, sizes, scale: float, parts):
    half = x.get_size()[0] // 2
    size = x.get_size()[0]
    whole = x.numel() // size
    parts = size + 1
    return [half, whole, scale // scale, half // parts, [sizes // sizes for sizes in range(1, 3)]]


def helper(sizes, step):
    return sizes // step


@lowerings.append
def listed(sizes, step):
    return sizes // step
