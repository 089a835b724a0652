"""Errors of the target torch. Each names the problem and the remedy in one line."""

from __future__ import annotations


class TorchError(Exception):
    """Unreadable target torch. ``str()`` is the one line for the user."""


class TorchMissing(TorchError):
    """Interpreter without torch, or no such interpreter."""


class TorchTooOld(TorchError):
    """Installed torch that is older than the oldest one that symfix verifies against."""


class NotATorchTree(TorchError):
    """Folder that is not the top of a PyTorch source tree."""


class YamlUnreadable(TorchError):
    """``native_functions.yaml`` or ``tags.yaml`` that is missing or does not parse."""


class TorchgenFailed(TorchError):
    """Unusable torchgen: it does not import, or its PyYAML is missing."""
