"""aten::_has_same_storage_numel (PyTorch 1.13.1, AutogradComposite.cpp): nbytes() throws on symbolic sizes."""

import torch
from torch.fx.experimental.proxy_tensor import make_fx


def same(x, y):
    return x + int(torch.ops.aten._has_same_storage_numel(x, y))


for rows, columns, told in ((5, 3, 1), (8, 4, 0)):
    x, y = torch.zeros(rows, columns), torch.zeros(rows + 1 - told, columns)
    traced = make_fx(same, tracing_mode="symbolic")(x, y)
    torch.testing.assert_close(traced(x, y), torch.full_like(x, told), rtol=0, atol=0)
