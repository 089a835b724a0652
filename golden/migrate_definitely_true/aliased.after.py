import torch.fx.experimental.symbolic_shapes as shapes


def is_small(n: int) -> bool:
    return shapes.guard_or_false(n <= 16)
