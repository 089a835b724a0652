"""torch.nn.functional.cross_entropy with class probabilities (PyTorch 2.6.0, LossNLL.cpp): numel() throws."""

import torch
import torch.nn.functional as F


def loss(x, target, weight):
    return F.cross_entropy(x, target, weight=weight, reduction="none")


torch.manual_seed(0)
compiled = torch.compile(loss, dynamic=True, backend="eager", fullgraph=True)
for batch, classes in ((4, 5), (7, 3)):
    x = torch.randn(batch, classes)
    target = torch.softmax(torch.randn(batch, classes), dim=1)
    weight = torch.rand(classes)
    torch.testing.assert_close(compiled(x, target, weight), loss(x, target, weight), rtol=0, atol=0)
