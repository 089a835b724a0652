"""The operators of a program that decide while it runs are listed with their places."""

from __future__ import annotations

import torch
from symfix.codemods.harness.children.recorders.kept_sides import sides_kept
from torch._higher_order_ops import while_loop


class Decides(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def inner(x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.mean() > 1, torch.sin, torch.cos, (x,))

        x = torch.cond(x.sum() > 0, inner, torch.cos, (x,))
        (x,) = while_loop(lambda x: x.norm() > 1, lambda x: (x / 2,), (x,))
        return x


def test_inner_operators_count_and_a_plain_program_has_none() -> None:
    program = torch.export.export(Decides(), (torch.randn(3),), strict=False)
    (note,) = sides_kept(program.graph_module)
    assert note.startswith("both sides are in the program: cond at test_kept_sides.py:")
    assert " (2 of them)" in note or note.count("cond at") == 2
    assert note.count("while_loop at test_kept_sides.py:") == 1
    assert sides_kept(torch.export.export(torch.nn.Tanh(), (torch.randn(3),)).graph_module) == []
