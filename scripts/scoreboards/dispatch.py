"""Which C++ functions are kernels for real data only, read from native_functions.yaml by hand, without torchgen.

The rewriter asks torchgen; a check of the rewriter must not ask the same witness.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml

_FAKE = ("Composite", "Meta", "Functionalize", "Autograd")


def kernel_keys(native_functions: Path) -> dict[str, frozenset[str]]:
    """The dispatch keys for which each kernel name is registered."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    keys: dict[str, set[str]] = defaultdict(set)
    for entry in yaml.load(native_functions.read_text(), loader):
        for key, kernel in _dispatch(entry):
            keys[kernel.rsplit("::", 1)[-1]].add(key)
    return {name: frozenset(found) for name, found in keys.items()}


def only_real(keys: frozenset[str]) -> bool:
    """Whether kernels registered for these keys, and no others, never see a symbolic size."""
    return bool(keys) and not any(key.startswith(_FAKE) for key in keys)


def _dispatch(entry: dict[str, Any]) -> list[tuple[str, str]]:
    listed = entry.get("dispatch")
    if listed is None:
        if entry.get("structured_delegate"):
            return []
        name, _, overload = entry["func"].split("(", 1)[0].partition(".")
        return [("CompositeImplicitAutograd", name + ("_out" if overload.endswith("out") else ""))]
    return [(key.strip(), kernel) for names, kernel in listed.items() for key in names.split(",")]
