"""aten::group_norm (PyTorch 1.13.1, group_norm.cpp): input.size(0) pins the batch."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(lambda x: torch.nn.functional.group_norm(x, 2), dynamic=True, fullgraph=True, backend="eager")

for batch, width in ((5, 3), (8, 6)):
    x = torch.randn(batch, 4, width)
    groups = x.reshape(batch, 2, 2 * width)
    centred = groups - groups.mean(2, True)
    expected = centred / (centred.square().mean(2, True) + 1e-5).sqrt()
    torch.testing.assert_close(traced(x), expected.view_as(x), rtol=1e-4, atol=1e-4)
