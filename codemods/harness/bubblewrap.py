"""Bubblewrap sandbox, if installed and working: a child can write to one folder and has no network."""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

SIGNALLED = 128
"""Offset that bubblewrap adds to the number of the signal that ended its command."""

_DEVICES = ("nvidia*", "kfd", "dri")
_SECONDS = 20


def wall(scratch: Path, place: Path, offline: bool) -> list[str]:
    """Return the words to put before a command that runs in ``place`` and may write below ``scratch``.

    Return no words without a working bubblewrap.
    """
    program = shutil.which("bwrap")
    if program is None or not _works(program):
        return []
    network = ["--unshare-net"] if offline else []
    found = [str(device) for pattern in _DEVICES for device in Path("/dev").glob(pattern)]
    devices = [word for device in found for word in ("--dev-bind", device, device)]
    folder = str(scratch.absolute())
    return [*_base(program), *devices, *network, "--bind", folder, folder, "--chdir", str(place), "--"]


def _base(program: str) -> list[str]:
    return [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "--unshare-ipc",
            "--die-with-parent"]  # fmt: skip


@lru_cache
def _works(program: str) -> bool:
    """Return whether bubblewrap can start a command, which the kernel does not permit in many containers."""
    try:
        command = [*_base(program), "--unshare-net", "--", "true"]
        return subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
