"""aten::_weight_norm_differentiable_backward (PyTorch 2.6.0, WeightNorm.cpp): saved_v.size(0) pins the rows."""

import torch

torch._dynamo.config.error_on_recompile = True

for kept in (0, 1):
    torch._dynamo.reset()
    traced = torch.compile(
        lambda *given, kept=kept: torch.ops.aten._weight_norm_differentiable_backward(*given, kept),
        dynamic=True,
        fullgraph=True,
        backend="eager",
    )
    for rows, columns in ((5, 3), (8, 4)):
        v = torch.randn(rows, columns, requires_grad=True)
        g = torch.randn((rows, 1) if kept == 0 else (1, columns), requires_grad=True)
        grad, norms = torch.randn(rows, columns), v.detach().square().sum(1 - kept, True).sqrt()
        weight = v * (g / v.square().sum(1 - kept, True).sqrt())
        expected = torch.autograd.grad(weight, (v, g), grad)
        torch.testing.assert_close(traced(grad, v.detach(), g.detach(), norms), expected)
