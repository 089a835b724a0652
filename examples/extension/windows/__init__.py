"""Sums over a sliding window, as an operator of its own."""

from pathlib import Path

import torch

torch.ops.load_library(str(Path(__file__).parent / "_library.so"))
window_sum = torch.ops.windows.window_sum
