"""torch.cumulative_trapezoid over sample points (PyTorch 1.13.1, Integration.cpp): x.size(0) pins the samples."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(
    lambda y, x: torch.cumulative_trapezoid(y, x, dim=0), dynamic=True, fullgraph=True, backend="eager"
)

for samples, columns in ((5, 3), (9, 4)):
    y, x = torch.randn(samples, columns), torch.randn(samples)
    expected = ((y[1:] + y[:-1]) / 2 * x.diff().unsqueeze(1)).cumsum(0)
    torch.testing.assert_close(traced(y, x), expected)
