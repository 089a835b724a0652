"""Facts about the target torch (operators, kernels, symbols), read from its files without importing it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import TorchApi
    from .errors import NotATorchTree, TorchError, TorchgenFailed, TorchMissing, TorchTooOld, YamlUnreadable
    from .releases import available
    from .schema import Argument, DispatcherSignature, Kernel, OverloadSignature
    from .schema_text import DeclaredArgument, DeclaredSchema, SchemaError, read_schema

__all__ = [
    "Argument",
    "DeclaredArgument",
    "DeclaredSchema",
    "DispatcherSignature",
    "Kernel",
    "NotATorchTree",
    "OverloadSignature",
    "SchemaError",
    "TorchApi",
    "TorchError",
    "TorchMissing",
    "TorchTooOld",
    "TorchgenFailed",
    "YamlUnreadable",
    "available",
    "read_schema",
]

_HOMES = {
    "api": ("TorchApi",),
    "schema_text": ("DeclaredArgument", "DeclaredSchema", "SchemaError", "read_schema"),
    "errors": ("NotATorchTree", "TorchError", "TorchMissing", "TorchTooOld", "TorchgenFailed", "YamlUnreadable"),
    "releases": ("available",),
    "schema": ("Argument", "Kernel", "OverloadSignature", "DispatcherSignature"),
}


def __getattr__(name: str) -> object:
    """Import a name on first access, since a run that only locates a torch needs none of them."""
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)
