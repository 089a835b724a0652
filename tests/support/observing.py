"""Runs of ``observe()`` in two versions of a module, and the differences in the results."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def observed(path: Path) -> Any:
    """Return the result of ``observe()`` of this file, or the exception that it raises."""
    spec = importlib.util.spec_from_file_location("golden_under_observation", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        return module.observe()
    except Exception as error:
        return error


def difference(before: Any, after: Any, where: str = "observe()") -> str | None:
    """Return the first difference between two results, including dtype and shape, or None if they are equal."""
    import torch

    if isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor):
        for what in ("dtype", "shape", "layout"):
            if getattr(before, what) != getattr(after, what):
                return f"{where}.{what}: {getattr(before, what)} became {getattr(after, what)}"
        same = torch.equal(before, after) or torch.allclose(before, after, rtol=0, atol=0, equal_nan=True)
        return None if same else f"{where}: {before} became {after}"
    if type(before) is not type(after):
        return f"{where}: {before!r} ({type(before).__name__}) became {after!r} ({type(after).__name__})"
    if isinstance(before, dict):
        if list(before) != list(after):
            return f"{where}: keys {list(before)} became {list(after)}"
        pairs = [(f"{where}[{key!r}]", before[key], after[key]) for key in before]
    elif isinstance(before, (list, tuple)):
        if len(before) != len(after):
            return f"{where}: {len(before)} items became {len(after)}"
        pairs = [
            (f"{where}[{number}]", one, other) for number, (one, other) in enumerate(zip(before, after, strict=True))
        ]
    elif isinstance(before, BaseException):
        return None if str(before) == str(after) else f"{where}: {before!r} became {after!r}"
    else:
        return None if before == after else f"{where}: {before!r} became {after!r}"
    found = (difference(one, other, place) for place, one, other in pairs)
    return next((text for text in found if text is not None), None)
