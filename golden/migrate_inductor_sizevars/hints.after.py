# symfix-golden: path=torch/_inductor/example.py
from .virtualized import V


def choose(x, config):
    sizevars = V.graph.sizevars
    if sizevars.guarding_hint_or_throw(x.get_numel()) > config.most:
        return sizevars.guarding_hints_or_throw(x.get_size())
    strides = sizevars.optimization_hints(x.get_stride(), fallback=config.unbacked_symint_fallback)
    return [*strides, sizevars.optimization_hint(x.get_layout().offset, fallback=0)]


def estimate(x, sizevars):
    try:
        return sizevars.guarding_hint_or_throw(x)
    except Exception:
        return -1
    finally:
        sizevars.optimization_hint(x, fallback=-1)
