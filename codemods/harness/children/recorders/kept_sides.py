"""Operators of a traced program that decide while it runs, with the places that they come from."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import torch

from ..overlay.own_folders import OWN_FOLDERS

_DECIDING = ("cond", "while_loop")
_FRAME = re.compile(r'File "(.+)", line (\d+), in')


def sides_kept(graph: torch.fx.GraphModule) -> list[str]:
    """Return a note for the deciding operators of a program, the inner ones included; none if it has none."""
    counts = Counter(_deciding(graph))
    found = [name if number == 1 else f"{name} ({number} of them)" for name, number in counts.items()]
    return [f"both sides are in the program: {', '.join(found)}"] if found else []


def _deciding(graph: torch.fx.GraphModule) -> Iterator[str]:
    for module in graph.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            name = getattr(node.target, "__name__", "") if node.op == "call_function" else ""
            if name in _DECIDING and isinstance(node.target, torch._ops.HigherOrderOperator):
                yield f"{name}{_place(module, node)}"


def _place(module: Any, node: Any) -> str:
    """Return the line that an operator comes from, else that of what decides, or of a step."""
    inner = [getattr(module, one.target, None) for one in node.args if getattr(one, "op", "") == "get_attr"]
    steps = [one for each in inner if isinstance(each, torch.fx.GraphModule) for one in each.graph.nodes]
    for one in (node, *(each for each in node.args[:1] if isinstance(each, torch.fx.Node)), *steps):
        frames = _FRAME.findall(one.meta.get("stack_trace") or "")
        places = [(file, line) for file, line in frames if not file.startswith((*OWN_FOLDERS, "<"))]
        if places:
            return f" at {os.path.basename(places[-1][0])}:{places[-1][1]}"  # noqa: PTH119
    return ""
