"""aten::layer_norm (PyTorch 1.13.1, layer_norm.cpp): the shape to normalise over is taken as integers."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(
    lambda x: torch.nn.functional.layer_norm(x, x.shape[1:]), dynamic=True, fullgraph=True, backend="eager"
)

for batch, width in ((5, 3), (8, 4)):
    x = torch.randn(batch, width)
    centred = x - x.mean(1, True)
    expected = centred / (centred.square().mean(1, True) + 1e-5).sqrt()
    torch.testing.assert_close(traced(x), expected, rtol=1e-4, atol=1e-4)
