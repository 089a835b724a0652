"""Modules of the installed torch whose functions dynamo inlines. Calls of other functions stay in its graph unchanged.

`probe_script` imports this file in a child process, so it imports nothing of symfix.
"""

from __future__ import annotations

import importlib
from typing import Any

_LISTS = ("LEGACY_MOD_INLINELIST", "MOD_INLINELIST")


def find_names() -> list[str]:
    """Return the dotted names on dynamo's own lists. A name includes the modules below it."""
    rules: Any = importlib.import_module("torch._dynamo.trace_rules")
    return sorted(set().union(*(getattr(rules, name) for name in _LISTS)))
