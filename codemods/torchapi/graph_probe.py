"""Functions of the installed torch that dynamo keeps in its graph as calls, and runs on fake tensors.

`probe_script` imports this file in a child process, so it imports nothing of symfix.
"""

from __future__ import annotations

import importlib
from typing import Any


def find_names() -> list[str]:
    """Return the dotted names on dynamo's own list. It traces into other functions of the same modules."""
    rules: Any = importlib.import_module("torch._dynamo.trace_rules")
    return sorted(rules.torch_non_c_binding_in_graph_functions)
