# symfix-golden: modules
import torch
from torch import Tensor

SMALLEST = 2


class Pairs(torch.nn.Module):
    name = "pairs"

    def forward(self, x: Tensor, y: Tensor, *, strict: bool = True) -> Tensor:
        if torch.compiler.is_compiling():
            torch._check_value(x.shape[0] == y.shape[0])
        elif x.shape[0] != y.shape[0]:  # rows of a pair
            raise ValueError(f"{self.name}: expected {y.shape[0]} rows, got {x.shape[0]:d}")
        if torch.compiler.is_compiling():
            torch._check(x.shape[1] == y.shape[1])
        else:
            assert x.shape[1] == y.shape[1], (
                f"columns: {x.shape[1]} "
                f"and {y.shape[1]}"
            )
        if torch.compiler.is_compiling():
            torch._check_index((x.shape[0] >= SMALLEST) & (x.shape[1] >= SMALLEST))
        elif (
            x.shape[0] < SMALLEST  # too small
            or x.shape[1] < SMALLEST
        ):
            raise IndexError("a shape of %s" % (tuple(x.shape),))
        return self.product(x, y)

    def product(self, x: Tensor, y: Tensor, *, strict: bool = True) -> Tensor:
        what = "product"
        if torch.compiler.is_compiling():
            torch._check_value(x.shape[0] >= SMALLEST)
        elif x.shape[0] < SMALLEST:
            raise ValueError(f"{what} of less than {SMALLEST} rows")
        if torch.compiler.is_compiling():
            torch._check(x.shape == y.shape)
        elif x.shape != y.shape:
            raise RuntimeError("shapes differ")
        return x * y


def observe():
    found = [Pairs()(torch.ones(3, 4), torch.ones(3, 4))]
    for x, y in ((torch.ones(3, 4), torch.ones(2, 4)), (torch.ones(3, 4), torch.ones(3, 2)), (torch.ones(3, 1), torch.ones(3, 1))):
        for function in (Pairs(), Pairs().product):
            try:
                found.append(function(x, y))
            except (AssertionError, IndexError, RuntimeError, ValueError) as error:
                found.append(f"{type(error).__name__}: {error}")
    return found
