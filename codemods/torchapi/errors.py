"""What can be wrong with the torch one was pointed to: each names the thing and the way out in one line."""

from __future__ import annotations


class TorchError(Exception):
    """The target torch can't be read; ``str()`` is the one line for the user."""


class TorchMissing(TorchError):
    """No torch in the interpreter that should have one, or no such interpreter."""


class TorchTooOld(TorchError):
    """The installed torch is older than the oldest one that symfix verifies against."""


class NotATorchTree(TorchError):
    """The folder is not the top of a PyTorch source tree."""


class YamlUnreadable(TorchError):
    """``native_functions.yaml`` or ``tags.yaml`` is missing or does not parse."""


class TorchgenFailed(TorchError):
    """No usable torchgen: it does not import, or PyYAML is not there for it."""
