"""aten::nll_loss2d (PyTorch 1.13.1, LossNLL2d.cpp): the class to ignore is taken as an integer."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(
    lambda x, target: torch._C._nn.nll_loss2d(x, target, None, 1, x.shape[1] - 1),
    dynamic=True,
    fullgraph=True,
    backend="eager",
)

for classes, height, width in ((3, 4, 5), (4, 6, 7)):
    x, target = torch.randn(2, classes, height, width), torch.arange(2 * height * width).view(2, height, width) % classes
    chosen = x.gather(1, target[:, None]).squeeze(1)
    torch.testing.assert_close(traced(x, target), -chosen[target != classes - 1].mean())
