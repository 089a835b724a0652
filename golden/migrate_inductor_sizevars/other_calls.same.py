# symfix-golden: path=torch/_inductor/example.py
from .virtualized import V


def score(x, other):
    hint_of = V.graph.sizevars.size_hint
    if hint_of(x) > 4:
        return V.graph.sizevars.guard_lt(x, 4)
    return other.size_hint(x, fallback=1) + size_hint(x) + other.evaluate_static_shape(x)
