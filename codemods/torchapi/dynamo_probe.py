"""Symbolic helpers that the dynamo of an installed torch refuses, found by tracing a call of each.

`probe_script` imports this file in a child process, so it imports nothing of symfix.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

_SHAPES = "torch.fx.experimental.symbolic_shapes"


def probes() -> Mapping[str, Callable[[Any, Any], Any]]:
    """Return a call of each helper, by its dotted name. Only two of the checks have a message."""
    torch: Any = importlib.import_module("torch")
    shapes: Any = importlib.import_module(_SHAPES)
    return {
        "torch._check": lambda x, y: torch._check(x.shape[0] > 2),
        "torch._check(text)": lambda x, y: torch._check(x.shape[0] > 2, lambda: "text"),
        "torch._check(values)": lambda x, y: torch._check(x.shape[0] > 2, lambda: f"{x.shape[0]}"),
        "torch._check_value": lambda x, y: torch._check_value(x.shape[0] > 2),
        "torch._check_index": lambda x, y: torch._check_index(x.shape[0] > 2),
        "torch._check_type": lambda x, y: torch._check_type(x.shape[0] > 2),
        "torch._check_not_implemented": lambda x, y: torch._check_not_implemented(x.shape[0] > 2),
        "torch._check_with": lambda x, y: torch._check_with(AssertionError, x.shape[0] > 2),
        "torch.sym_min": lambda x, y: x * torch.sym_min(x.shape[0], y.shape[0]),
        "torch.sym_max": lambda x, y: x * torch.sym_max(x.shape[0], y.shape[0]),
        "torch.sym_float": lambda x, y: x * torch.sym_float(x.shape[0]),
        "torch.sym_int": lambda x, y: x * torch.sym_int(x.shape[0] / 2),
        "torch.sym_ite": lambda x, y: x * torch.sym_ite(x.shape[0] == y.shape[0], x.shape[0], y.shape[1]),
        "torch.sym_not": lambda x, y: torch._check(torch.sym_not(x.shape[0] == 0)),
        f"{_SHAPES}.guard_or_false": lambda x, y: x if shapes.guard_or_false(x.shape[0] == y.shape[0]) else y,
        f"{_SHAPES}.guard_or_true": lambda x, y: x if shapes.guard_or_true(x.shape[0] == y.shape[0]) else y,
        f"{_SHAPES}.statically_known_true": lambda x, y: (
            x if shapes.statically_known_true(x.shape[0] == y.shape[0]) else y
        ),
        f"{_SHAPES}.sym_and": lambda x, y: torch._check(shapes.sym_and(x.shape[0] == y.shape[0], x.shape[1] > 1)),
        f"{_SHAPES}.sym_or": lambda x, y: torch._check(shapes.sym_or(x.shape[0] == y.shape[0], x.shape[1] > 1)),
        f"{_SHAPES}.sym_eq": lambda x, y: torch._check(shapes.sym_eq(x.shape, y.shape)),
    }


def find_names() -> list[str]:
    """Return the helpers that fail to trace with dynamic or static sizes, including those that this torch lacks."""
    return [name for name, probe in probes().items() if not _is_traced(probe)]


def _is_traced(probe: Callable[[Any, Any], Any]) -> bool:
    torch: Any = importlib.import_module("torch")

    def called(x: Any, y: Any) -> Any:
        return x + 1, probe(x, y)

    class Module(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any, y: Any) -> Any:
            probe(x, y)
            return x + 1

    tensors = torch.ones(3, 4), torch.ones(3, 4)
    dynamic = dict.fromkeys((0, 1), torch.export.Dim.AUTO)
    try:
        for sizes in (True, False):
            torch._dynamo.reset()
            torch.compile(called, backend="eager", fullgraph=True, dynamic=sizes)(*tensors)
        torch.export.export(Module(), tensors, dynamic_shapes=(dynamic, dynamic), strict=True)
    except Exception:  # dynamo refuses in many ways, and all of them mean no
        return False
    return True
