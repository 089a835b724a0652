# symfix-golden: path=torch/_inductor/example.py
import sympy

from .virtualized import V


def lower(x, k):
    size = V.graph.sizevars.evaluate_static_shape(x.get_size()[0])
    sizes = V.graph.sizevars.evaluate_static_shapes(x.get_size())
    V.graph.sizevars.guard_equals(size, k)
    size = V.graph.sizevars.guard_equals(size, k)
    V.graph.sizevars.guard_leq(size, k)
    sizevars = V.graph.sizevars
    hint = sizevars.size_hint(k, fallback=8)
    if sizevars.is_expr_static_and_true(sympy.Eq(k, 1)) or sizevars.size_hint(size) == sizevars.size_hint(k):
        return sizes
    return hint
