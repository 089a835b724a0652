"""Tasks that end the process that they are given to, for tests of a cluster; its workers import them from here."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def once_deadly(items: list[Path]) -> list[str]:
    """Kills its worker the first time that it meets an item without a trace."""
    for item in items:
        if not item.exists():
            item.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return [item.name for item in items]


def deadly(items: list[str]) -> list[str]:
    """Kills its worker at ``bad``, whenever."""
    if "bad" in items:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return [item.upper() for item in items]


def raising(items: list[str]) -> list[str]:
    """Breaks."""
    raise KeyError(items[0])
