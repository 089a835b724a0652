"""torch._weight_norm (PyTorch 2.6.0, WeightNorm.cpp): v.size(0) pins the rows."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(lambda v, g: torch._weight_norm(v, g, 0), dynamic=True, fullgraph=True, backend="eager")

for rows, columns in ((5, 3), (8, 4)):
    v, g = torch.randn(rows, columns), torch.randn(rows, 1)
    torch.testing.assert_close(traced(v, g), v * (g / v.square().sum(1, True).sqrt()))
