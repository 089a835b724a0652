"""aten::conv_tbc_backward (PyTorch 2.6.0, ConvolutionTBC.cpp): input.sizes() pins time and batch."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(torch.ops.aten.conv_tbc_backward, dynamic=True, fullgraph=True, backend="eager")
weight, bias = torch.randn(3, 4, 2, requires_grad=True), torch.randn(2, requires_grad=True)

for time, batch in ((5, 6), (9, 8)):
    x, grad = torch.randn(time, batch, 4, requires_grad=True), torch.randn(time, batch, 2)
    forward = torch.nn.functional.conv1d(x.permute(1, 2, 0), weight.permute(2, 1, 0), bias, padding=1).permute(2, 0, 1)
    expected = torch.autograd.grad(forward, (x, weight, bias), grad)
    answer = traced(grad, x.detach(), weight.detach(), bias.detach(), 1)
    torch.testing.assert_close(answer, expected, rtol=1e-4, atol=1e-4)
