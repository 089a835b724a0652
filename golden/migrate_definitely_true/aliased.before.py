import torch.fx.experimental.symbolic_shapes as shapes


def is_small(n: int) -> bool:
    return shapes.definitely_true(n <= 16)
