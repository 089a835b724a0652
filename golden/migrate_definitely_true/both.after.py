from torch import Tensor
from torch.fx.experimental.symbolic_shapes import (
    guard_or_false,
    guard_or_true,
    sym_eq,
)


def same(a: Tensor, b: Tensor) -> bool:
    return guard_or_false(
        sym_eq(a.size(), b.size())  # no guard
    ) and guard_or_true(a.storage_offset() == b.storage_offset())
