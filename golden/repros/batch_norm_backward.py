"""aten::_batch_norm_impl_index_backward (PyTorch 2.6.0, Normalization.cpp): numel() throws on a symbolic size."""

import torch

torch._dynamo.config.error_on_recompile = True


def gradient(x, grad, weight, mean, inverse_deviation):
    return torch.ops.aten._batch_norm_impl_index_backward(
        0, x, grad, weight, None, None, mean, inverse_deviation, True, 1e-5, [True, True, True], torch.empty(0)
    )


traced = torch.compile(gradient, dynamic=True, fullgraph=True, backend="eager")

for batch, channels, width in ((3, 4, 5), (6, 7, 8)):
    x = torch.randn(batch, channels, width, requires_grad=True)
    weight, bias = torch.randn(channels, requires_grad=True), torch.randn(channels, requires_grad=True)
    mean, variance = x.detach().mean((0, 2)), x.detach().var((0, 2), correction=0)
    grad = torch.randn_like(x)
    normal = (x - x.mean((0, 2), True)) / (x.var((0, 2), correction=0, keepdim=True) + 1e-5).sqrt()
    expected = torch.autograd.grad(normal * weight[:, None] + bias[:, None], (x, weight, bias), grad)
    answer = traced(x.detach(), grad, weight.detach(), mean, (variance + 1e-5).rsqrt())
    torch.testing.assert_close(answer, expected, rtol=1e-4, atol=1e-4)
