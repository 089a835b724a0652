"""Mapping from Python files to modules of torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class Unplaced(Exception):
    """Error raised for a file that is not a module of torch. ``str()`` is the one line for the user."""


def module_name(path: Path, roots: Sequence[Path]) -> str:
    """Return the dotted name of the module at ``path`` below one of ``roots``, the parent folders of torch.

    Raises Unplaced for a file that is not a module below any of them.
    """
    for root in roots:
        for place, folder in ((path.absolute(), root.absolute()), (path.resolve(), root.resolve())):
            if place.suffix == ".py" and place.is_relative_to(folder):
                parts = place.relative_to(folder).with_suffix("").parts
                if parts[-1] == "__init__":
                    parts = parts[:-1]
                if parts and parts[0] in ("torch", "functorch"):
                    return ".".join(parts)
    where = " or ".join(str(root) for root in roots)
    raise Unplaced(f"{path} is no module of torch below {where}: name its tree with --torch-root")


def namespace(module: str) -> str:
    """Return the public namespace of a module: ``masked`` for ``torch.masked._ops``, "" for torch itself."""
    return ".".join(part for part in module.split(".")[1:] if not part.startswith("_"))
