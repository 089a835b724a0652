"""Rows that are spread over another number of rows, as operators of their own."""

from pathlib import Path

import torch

torch.ops.load_library(str(Path(__file__).parent / "_library.so"))
spread = torch.ops.warps.spread
spread_twice = torch.ops.warps.spread_twice
picked = torch.ops.warps.picked


@torch.library.register_fake("warps::picked")
def _(x, rows):
    return x.new_empty(rows, x.shape[1])
