# symfix-golden: path=torch/_inductor/example.py
from .virtualized import V


def score(x, other):
    hint_of = V.graph.sizevars.size_hint
    if hint_of(x) > 4:
        return V.graph.sizevars.guard_lt(x, 4)
    return other.size_hint(x, fallback=1) + size_hint(x) + other.evaluate_static_shape(x)


def refused_for_none(x, fallback=None):
    if fallback is None:
        return V.graph.sizevars.size_hint(x, fallback=None)
    return V.graph.sizevars.size_hint(x, fallback=fallback)


def overridden(x, hint, **given):
    first = V.graph.sizevars.size_hint(x, hint_override=hint)
    return first + V.graph.sizevars.size_hints(x, fallback=8, hint_override=hint) + sizevars.size_hint(x, **given)


def caught(x):
    try:
        return V.graph.sizevars.size_hint(x) + V.graph.sizevars.evaluate_static_shape(x)
    except (TypeError, ValueError):
        return 1


def own(x):
    return sizevars.size_hint(x)


class sizevars:
    @staticmethod
    def size_hint(x, **given):
        return 3
