"""aten::_new_zeros_with_same_feature_meta (PyTorch 2.6.0, AutogradComposite.cpp): storage_offset() throws."""

import torch

torch._dynamo.config.error_on_recompile = True


def tangent(primal, rows):
    return torch.ops.aten._new_zeros_with_same_feature_meta(torch.empty(()), primal.narrow(0, 1, rows.shape[0] - 1))


traced = torch.compile(tangent, dynamic=True, fullgraph=True, backend="eager")

for rows, columns in ((6, 4), (9, 5)):
    x = torch.randn(rows, columns)
    answer = traced(x, x[:, 0])
    torch.testing.assert_close(answer, torch.zeros(rows - 1, columns), rtol=0, atol=0)
    assert answer.stride() == (columns, 1)
    assert answer.storage_offset() == columns
