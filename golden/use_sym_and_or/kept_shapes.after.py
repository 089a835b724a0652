# symfix-golden: path=torch/_meta_registrations.py
# A shape that is kept in a name has as many places as the tensor was found to have dimensions.
import torch
from torch import Tensor


def product(batch1: Tensor, batch2: Tensor) -> Tensor:
    from torch.fx.experimental.symbolic_shapes import sym_and

    torch._check(batch1.dim() == 3, lambda: "batch1 must be a 3D tensor")
    torch._check(batch2.dim() == 3, lambda: "batch2 must be a 3D tensor")
    first = batch1.shape
    second = batch2.shape
    torch._check(
        sym_and(second[0] == first[0], second[1] == first[2]),
        lambda: f"{second[:2]} does not fit {first}",
    )
    return batch1.new_zeros(first[0], first[1], second[2])


def observe():
    found = []
    for shape in ((2, 4, 5), (2, 3, 5), (3, 4, 5), (4, 5), (5,)):
        try:
            found.append(product(torch.ones(2, 3, 4), torch.ones(shape)))
        except RuntimeError as error:
            found.append(str(error))
    return found
