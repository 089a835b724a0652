"""Functions of the installed torch that torch itself passes to TorchScript, and those that they call.

Torch scripts some of them when a module is imported, and one only at the first forward-mode derivative. `probe_script`
imports this file in a child process, so it imports nothing of symfix.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_ROOT = "__torch__."
_CALL = b"jit.script("


def find_names() -> list[str]:
    """Return the functions that are compiled once each module that calls ``torch.jit.script`` is imported."""
    torch: Any = importlib.import_module("torch")
    for module in _modules(Path(torch.__file__).parent):
        # Some modules need what this build or this machine lacks.
        with contextlib.suppress(Exception):
            importlib.import_module(module)
    compiled = torch.jit._state._python_cu.get_functions()
    return sorted({function.qualified_name.removeprefix(_ROOT) for function in compiled})


def _modules(package: Path) -> Iterator[str]:
    """Yield the modules of torch that call ``torch.jit.script``, except its tests, which script their test cases."""
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        if "testing" not in parts and _CALL in path.read_bytes():
            yield ".".join(parts).removesuffix(".__init__")
