# symfix-golden: path=torch/_inductor/example.py
import sympy

from .virtualized import V


def lower(x, k):
    size = V.graph.sizevars.guard_int(x.get_size()[0])
    sizes = V.graph.sizevars.guard_int_seq(x.get_size())
    V.graph.sizevars.check_equals(size, k)
    size = V.graph.sizevars.check_equals_and_simplify(size, k)
    V.graph.sizevars.check_leq(size, k)
    sizevars = V.graph.sizevars
    hint = sizevars.optimization_hint(k, fallback=8)
    if sizevars.statically_known_true(sympy.Eq(k, 1)) or sizevars.guard_or_false(sympy.Eq(size, k)):
        return sizes
    return hint
