"""torch.combinations (PyTorch 2.6.0, Itertools.cpp): numel() throws on a symbolic size."""

import itertools

import torch
from torch.fx.experimental.proxy_tensor import make_fx

traced = make_fx(lambda x: torch.combinations(x, 2), tracing_mode="symbolic")(torch.randn(5))

for length in (5, 8):
    x = torch.randn(length)
    expected = torch.tensor(list(itertools.combinations(x.tolist(), 2)))
    torch.testing.assert_close(traced(x), expected, rtol=0, atol=0)
