"""aten::cross_entropy_loss with smoothed labels (PyTorch 2.6.0, LossNLL.cpp): weight.size(0) pins the classes."""

import torch

torch._dynamo.config.error_on_recompile = True
traced = torch.compile(
    lambda x, target, weight: torch.nn.functional.cross_entropy(x, target, weight, label_smoothing=0.1),
    dynamic=True,
    fullgraph=True,
    backend="eager",
)

for batch, classes in ((5, 3), (8, 4)):
    x, weight = torch.randn(batch, classes), torch.rand(classes) + 0.5
    target = torch.arange(batch) % classes
    surprise, chosen = -x.log_softmax(1), weight[target]
    hard = surprise.gather(1, target[:, None]).squeeze(1) * chosen
    smooth = (surprise * weight).sum(1) * 0.1 / classes
    torch.testing.assert_close(traced(x, target, weight), (0.9 * hard + smooth).sum() / chosen.sum())
