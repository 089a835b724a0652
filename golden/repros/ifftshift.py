"""torch.fft.ifftshift (PyTorch 1.13.1, SpectralOps.cpp): sizes() pins the sizes."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(lambda x: torch.fft.ifftshift(x), dynamic=True, fullgraph=True, backend="eager")

for rows, columns in ((5, 3), (8, 6)):
    x = torch.randn(rows, columns)
    torch.testing.assert_close(traced(x), x.roll((-(rows // 2), -(columns // 2)), (0, 1)), rtol=0, atol=0)
