# symfix-golden: modules
import torch
from torch import Tensor


def batches(x: Tensor, y: Tensor, *, names=()) -> Tensor:
    if x.shape[0] != y.shape[0]:
        raise ValueError("batches differ")
    return x + y


class Collector:
    def collect(self, x: Tensor, *names: str) -> Tensor:
        assert x.shape[0] > 1, "nothing to collect"
        return x
