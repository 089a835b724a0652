"""aten::nll_loss_nd (PyTorch 1.13.1, LossNLL.cpp): the class to ignore is taken as an integer."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(
    lambda x, target: torch.nn.functional.nll_loss(x, target, ignore_index=x.shape[1] - 1),
    dynamic=True,
    fullgraph=True,
    backend="eager",
)

for batch, classes in ((5, 3), (8, 4)):
    x, target = torch.randn(batch, classes), torch.arange(batch) % classes
    kept = target != classes - 1
    torch.testing.assert_close(traced(x, target), -x[kept, target[kept]].mean())
