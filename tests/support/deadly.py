"""Tasks that kill the worker process that runs them, for tests of a cluster. Its workers import them from here."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def once_deadly(items: list[Path]) -> list[str]:
    """Kill the worker when it first meets an item whose file does not exist. The file is created."""
    for item in items:
        if not item.exists():
            item.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return [item.name for item in items]


def deadly(items: list[str]) -> list[str]:
    """Kill the worker at each ``bad``."""
    if "bad" in items:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return [item.upper() for item in items]


def raising(items: list[str]) -> list[str]:
    """Raise KeyError."""
    raise KeyError(items[0])
