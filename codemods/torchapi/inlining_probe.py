"""Modules of the installed torch whose functions dynamo inlines; calls of the others stay in its graph as they are.

Run as a script, in a child; it imports nothing of symfix. Prints their dotted names as a JSON list; a name stands for
the modules below it too.
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
    """The modules on dynamo's own lists."""
    rules: Any = importlib.import_module("torch._dynamo.trace_rules")
    return sorted(set().union(*(getattr(rules, name) for name in _LISTS)))


if __name__ == "__main__":
    # The folder of this script holds modules with names of others.
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != Path(__file__).resolve().parent]
    warnings.simplefilter("ignore")

    print(json.dumps(inlined()))
