# symfix-golden: path=torch/_refs/example.py
from torch.fx.experimental.symbolic_shapes import guard_size_oblivious

CHOSEN = guard_size_oblivious


def f(arguments) -> bool:
    return guard_size_oblivious(*arguments) or CHOSEN(expr=arguments)
