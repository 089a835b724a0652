# symfix-golden: all-functions
import torch
from torch import Tensor


def chosen(points: Tensor, num: int, *, names=()) -> Tensor:
    if torch.compiler.is_compiling():
        torch._check(num <= points.size(-2))
    else:
        assert num <= points.size(-2), "more points than " \
        "there are"
    return points[:num]


def observe():
    found = [chosen(torch.ones(4, 3), 2)]
    try:
        chosen(torch.ones(4, 3), 5)
    except (AssertionError, RuntimeError) as error:
        found.append(str(error))
    return found
