# symfix-golden: min-torch=2.6
import torch.fx.experimental.symbolic_shapes as shapes


def f(x):
    return shapes.definitely_true(x.size(0) == 1)
