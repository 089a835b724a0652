"""Operators whose derivatives call a formula, according to the derivatives.yaml of the installed torch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

_ENTRY = re.compile(r"^- name: (\w+(?:\.\w+)?)\(", re.MULTILINE)
_CALL = re.compile(r"(?<![\w.:])(\w+)\(")


@lru_cache
def operators_by_formula(package: Path) -> Mapping[str, tuple[str, ...]]:
    """Return for each function (``mm_mat1_backward``) the operators (``mm``, ``addmm``) whose derivatives call it.

    The result is for the torch at ``package``. It is empty if the installed torch has no derivatives.yaml.
    """
    path = package.parent / "torchgen" / "packaged" / "autograd" / "derivatives.yaml"
    text = path.read_text() if path.is_file() else ""
    pieces = _ENTRY.split(text)[1:]
    found: dict[str, dict[str, None]] = {}
    for operator, entry in zip(pieces[::2], pieces[1::2], strict=True):
        # The rest of the first line is the operator's own schema.
        for name in _CALL.findall(entry.partition("\n")[2]):
            found.setdefault(name, {})[operator] = None
    return {name: tuple(operators) for name, operators in found.items()}
