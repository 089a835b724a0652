# symfix-golden: path=torch/_inductor/example.py
from .lowering import register_lowering


@register_lowering("aten.chunks")
def chunks(x, size: "int", *, step):
    return (size // step) // step
