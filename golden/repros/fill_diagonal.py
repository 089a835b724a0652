"""Tensor.fill_diagonal_ with wrapping (PyTorch 2.6.0, Fill.cpp): storage_offset() throws on symbolic sizes."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(lambda x: x.clone().fill_diagonal_(7, wrap=True), dynamic=True, fullgraph=True, backend="eager")

for height, width in ((9, 3), (13, 4)):
    x = torch.randn(height, width)
    expected = x.flatten()
    expected[:: width + 1] = 7
    torch.testing.assert_close(traced(x), expected.view(height, width), rtol=0, atol=0)

torch._dynamo.reset()
for length in (3, 5):
    x = torch.randn(length, length, length)
    expected = x.clone()
    expected[range(length), range(length), range(length)] = 7
    torch.testing.assert_close(traced(x), expected, rtol=0, atol=0)
