from torch import Tensor
from torch.fx.experimental.symbolic_shapes import definitely_false, definitely_true, sym_eq


def same(a: Tensor, b: Tensor) -> bool:
    return definitely_true(
        sym_eq(a.size(), b.size())  # no guard
    ) and not definitely_false(a.storage_offset() == b.storage_offset())
