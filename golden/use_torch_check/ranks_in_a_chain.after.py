# symfix-golden: path=accounts/models.py all-functions drop-torchscript
import torch
from torch import Tensor


def fit(x: Tensor, y: Tensor) -> Tensor:
    if torch.compiler.is_compiling():
        torch._check_value(x.ndim == y.ndim == 2 and y.shape[-1] == 1)
    elif not (x.ndim == y.ndim == 2 and y.shape[-1] == 1):
        raise ValueError("expected x to be n x d and y to be n x 1")
    return x * y


def observe() -> list[object]:
    found: list[object] = [fit(torch.ones(2, 3), torch.ones(2, 1))]
    for y in (torch.ones(2), torch.ones(2, 3), torch.ones(1, 2, 1)):
        try:
            fit(torch.ones(2, 3), y)
        except ValueError as error:
            found.append(str(error))
    return found
