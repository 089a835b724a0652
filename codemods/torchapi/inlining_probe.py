"""Modules of the installed torch whose functions dynamo inlines. Calls of other functions stay in its graph unchanged.

This file runs as a script in a child process and imports nothing of symfix. It prints their dotted names as a JSON
list. A name includes the modules below it.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

_LISTS = ("LEGACY_MOD_INLINELIST", "MOD_INLINELIST")


def inlined() -> list[str]:
    """Return the modules on dynamo's own lists."""
    rules: Any = importlib.import_module("torch._dynamo.trace_rules")
    return sorted(set().union(*(getattr(rules, name) for name in _LISTS)))


if __name__ == "__main__":
    # The folder of this script contains modules that shadow others.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]
    warnings.simplefilter("ignore")

    print(json.dumps(inlined()))
