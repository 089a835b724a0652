"""aten::adaptive_avg_pool3d (PyTorch 1.13.1, AdaptiveAveragePooling3d.cpp): the output's size is taken as integers."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(
    lambda x, y: torch.nn.functional.adaptive_avg_pool3d(x, (y.shape[0], 2, 2)),
    dynamic=True,
    fullgraph=True,
    backend="eager",
)

for batch, depth in ((5, 7), (9, 11)):
    x = torch.randn(batch, 3, 2 * depth, 4, 6)
    expected = x.view(batch, 3, depth, 2, 2, 2, 2, 3).mean((3, 5, 7))
    torch.testing.assert_close(traced(x, torch.empty(depth)), expected)
