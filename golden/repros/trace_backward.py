"""aten::trace_backward (PyTorch 2.6.0, TriangularOps.cpp): numel() throws on a symbolic size."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(
    lambda grad, x: torch.ops.aten.trace_backward(grad, x.shape), dynamic=True, fullgraph=True, backend="eager"
)

for rows, columns in ((5, 4), (8, 9)):
    grad = torch.randn(())
    torch.testing.assert_close(traced(grad, torch.empty(rows, columns)), grad * torch.eye(rows, columns))
