"""aten::nll_loss (PyTorch 1.13.1, LossNLL.cpp): the class to ignore is taken as an integer."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(
    lambda x, target: torch._C._nn.nll_loss(x, target, None, 2, x.shape[1] - 1),
    dynamic=True,
    fullgraph=True,
    backend="eager",
)

for batch, classes in ((5, 3), (8, 4)):
    x, target = torch.randn(batch, classes), torch.arange(batch) % classes
    kept = target != classes - 1
    torch.testing.assert_close(traced(x, target), -x[kept, target[kept]].sum())
