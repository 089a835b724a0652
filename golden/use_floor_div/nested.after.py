# symfix-golden: path=torch/_inductor/example.py
from .lowering import register_lowering


@register_lowering("aten.chunks")
def chunks(x, size: "int", *, step):
    from torch.utils._sympy.functions import FloorDiv

    return FloorDiv(FloorDiv(size, step), step)
