# symfix-golden: min-torch=2.6
def f(V, a, b):
    V.graph.sizevars.guard_equals(a, b)
    V.graph.sizevars.evaluate_static_shape(a)
    return V.graph.sizevars.size_hint(a, fallback=1), V.graph.sizevars.size_hint(a) == V.graph.sizevars.size_hint(b)
