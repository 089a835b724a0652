"""torch.norm_except_dim, of weight normalisation (PyTorch 2.6.0, WeightNorm.cpp): v.size(0) pins the first size."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(lambda v: torch.norm_except_dim(v, 2, 0), dynamic=True, fullgraph=True, backend="eager")

for rows, columns in ((5, 3), (9, 4)):
    v = torch.randn(rows, columns, 2)
    expected = v.square().sum((1, 2), keepdim=True).sqrt()
    torch.testing.assert_close(traced(v), expected)
