# symfix-golden: path=torch/_inductor/example.py
from .virtualized import V


def choose(x, config):
    sizevars = V.graph.sizevars
    if sizevars.size_hint(x.get_numel()) > config.most:
        return sizevars.size_hints(x.get_size())
    strides = sizevars.size_hints(x.get_stride(), fallback=config.unbacked_symint_fallback)
    return [*strides, sizevars.size_hint(x.get_layout().offset, fallback=0)]


def estimate(x, sizevars):
    try:
        return sizevars.size_hint(x)
    except Exception:
        return -1
    finally:
        sizevars.size_hint(x, fallback=-1)
