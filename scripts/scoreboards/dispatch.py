"""C++ functions that are kernels for real data only, parsed from native_functions.yaml without torchgen.

The rewriter uses torchgen. A check of the rewriter needs an independent source.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

_FAKE = ("Composite", "Meta", "Functionalize", "Autograd")


def kernel_keys(native_functions: Path) -> dict[str, frozenset[str]]:
    """Return the dispatch keys for which each kernel name is registered."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    keys: dict[str, set[str]] = defaultdict(set)
    for entry in yaml.load(native_functions.read_text(), loader):
        for key, kernel in _dispatch(entry):
            keys[kernel.rsplit("::", 1)[-1]].add(key)
    return {name: frozenset(found) for name, found in keys.items()}


def only_real(keys: frozenset[str]) -> bool:
    """Return whether kernels that are registered only for these keys never see a symbolic size."""
    return bool(keys) and not any(key.startswith(_FAKE) for key in keys)


def _dispatch(entry: dict[str, Any]) -> list[tuple[str, str]]:
    listed = entry.get("dispatch")
    if listed is None:
        if entry.get("structured_delegate"):
            return []
        name, _, overload = entry["func"].split("(", 1)[0].partition(".")
        return [("CompositeImplicitAutograd", name + ("_out" if overload.endswith("out") else ""))]
    return [(key.strip(), kernel) for names, kernel in listed.items() for key in names.split(",")]
