import time

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import guard_or_false
from torch.library import impl

# Each import registers under a name of its own.
SPACE = f"golden{time.time_ns()}"
lib = torch.library.Library(SPACE, "FRAGMENT")
lib.define("rows(Tensor x) -> Tensor")
lib.define("trimmed(Tensor x) -> Tensor")


@torch.library.custom_op(f"{SPACE}::flat", mutates_args=())
def flat(x: Tensor) -> Tensor:
    if x.numel() == 0:
        return x.clone()
    return x.reshape(-1).clone()


@flat.register_fake
def _(x):
    if guard_or_false(x.numel() == 0):
        return torch.empty_like(x)
    return x.new_empty(x.numel())


@impl(lib, "rows", "Meta")
def rows_meta(x):
    if guard_or_false(x.size(0) == 0):
        return x.new_empty(0)
    return x.new_empty(x.size(0))


@impl(lib, "rows", "CPU")
def rows_cpu(x):
    if x.size(0) == 0:
        return x.new_empty(0)
    return x.sum(1)


def trimmed_meta(x):
    if guard_or_false(x.size(0) == 0):
        return x.new_empty(0, 1)
    return x.new_empty(x.size(0), 1)


lib.impl("trimmed", trimmed_meta, "Meta")


def helper(x: Tensor) -> Tensor:
    if x.size(0) == 0:
        return x
    return x / x.size(0)


def observe():
    shapes = [torch.ones(n, 3, device="meta") for n in (2, 0, 1)]
    ops = getattr(torch.ops, SPACE)
    return [
        [tuple(ops.rows(x).shape) for x in shapes],
        [tuple(ops.trimmed(x).shape) for x in shapes],
        [tuple(ops.flat(x).shape) for x in shapes],
        [function(torch.ones(n, 3)) for function in (ops.rows, ops.flat, helper) for n in (2, 0, 1)],
    ]
