"""What the target torch knows: operators, kernels, symbols; read from its files, never by importing it."""

from __future__ import annotations

from .api import TorchApi
from .errors import NotATorchTree, TorchError, TorchgenFailed, TorchMissing, TorchTooOld, YamlUnreadable
from .releases import available
from .schema import Argument, Kernel, Operator

__all__ = [
    "Argument",
    "Kernel",
    "NotATorchTree",
    "Operator",
    "TorchApi",
    "TorchError",
    "TorchMissing",
    "TorchTooOld",
    "TorchgenFailed",
    "YamlUnreadable",
    "available",
]
