"""What the target torch knows: operators, kernels, symbols; read from its files, never by importing it."""

from __future__ import annotations

from .api import TorchApi
from .declaring import DeclaredArgument, DeclaredSchema, SchemaError, read_schema
from .errors import NotATorchTree, TorchError, TorchgenFailed, TorchMissing, TorchTooOld, YamlUnreadable
from .releases import available
from .schema import Argument, Kernel, Operator, Signature

__all__ = [
    "Argument",
    "DeclaredArgument",
    "DeclaredSchema",
    "Kernel",
    "NotATorchTree",
    "Operator",
    "SchemaError",
    "Signature",
    "TorchApi",
    "TorchError",
    "TorchMissing",
    "TorchTooOld",
    "TorchgenFailed",
    "YamlUnreadable",
    "available",
    "read_schema",
]
