# symfix-golden: modules
import torch
from torch import Tensor

SMALLEST = 2


class Pairs(torch.nn.Module):
    name = "pairs"

    def forward(self, x: Tensor, y: Tensor, *, strict: bool = True) -> Tensor:
        if x.shape[0] != y.shape[0]:  # rows of a pair
            raise ValueError(f"{self.name}: expected {y.shape[0]} rows, got {x.shape[0]:d}")
        assert x.shape[1] == y.shape[1], (
            f"columns: {x.shape[1]} "
            f"and {y.shape[1]}"
        )
        if (
            x.shape[0] < SMALLEST  # too small
            or x.shape[1] < SMALLEST
        ):
            raise IndexError("a shape of %s" % (tuple(x.shape),))
        return self.product(x, y)

    def product(self, x: Tensor, y: Tensor, *, strict: bool = True) -> Tensor:
        what = "product"
        if x.shape[0] < SMALLEST:
            raise ValueError(f"{what} of less than {SMALLEST} rows")
        if x.shape != y.shape:
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
