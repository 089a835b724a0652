"""The user's own command, run unchanged, with the exports of each Python process that it starts observed."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from ..system.sigint import supervised
from .live_laboratory import Pipes
from .process_limits import CHILDREN

_TICK = 0.1


class NoCommand(Exception):
    """Error raised when the command can't be run. ``str()`` is the one line for the user."""


@dataclass(frozen=True)
class HeldCall:
    """First observed call that failed, in a process that waits and serves forks of itself."""

    kind: str
    where: str
    error: str
    name: str
    """Name of the model."""
    way: str
    unbacked: bool
    python: str
    process: int
    broken: str = ""
    """Reason why the process can't serve, or empty."""


class Attended:
    """Running command."""

    def __init__(self, folder: Path, status: int) -> None:
        self._folder = folder
        self._status = status

    def wait(self, seconds: float | None) -> HeldCall | int | None:
        """Return the call that failed, or the exit code of the command, or None after ``seconds``. Raises NoCommand."""
        deadline = None if seconds is None else time.monotonic() + seconds
        ending = select.poll()
        ending.register(self._status, select.POLLIN | select.POLLHUP)
        while deadline is None or time.monotonic() < deadline:
            ended = ending.poll(_TICK * 1000)
            with suppress(FileNotFoundError):
                return HeldCall(**json.loads((self._folder / "held").read_bytes()))
            if ended:
                return self._code()
        return None

    def _code(self) -> int:
        said = b""
        while piece := os.read(self._status, 4096):
            said += piece
        first = next(iter(said.decode().splitlines()), "ended 1")
        word, _, rest = first.partition(" ")
        if word == "refused":
            raise NoCommand(rest)
        code = int(rest)
        return code if code >= 0 else 128 - code

    @property
    def calls(self) -> Counter[str]:
        """Return the number of observed calls of each kind."""
        return Counter(self._lines("calls"))

    @property
    def torches(self) -> int:
        """Return the number of processes that imported torch."""
        return len(self._lines("torch"))

    @property
    def broken(self) -> str:
        """Return the reason why a process could not be observed, or "" if each could."""
        return next(iter(self._lines("broken")), "")

    def _lines(self, name: str) -> list[str]:
        with suppress(FileNotFoundError):
            return (self._folder / name).read_text("utf-8", "replace").splitlines()
        return []


@contextmanager
def attended(command: Sequence[str], pipes: Pipes) -> Iterator[Attended]:
    """Run a command for the length of the block, and kill its remaining processes at the end. Raises NoCommand.

    The process whose call fails first serves forks of itself through ``pipes``.
    """
    if shutil.which(command[0]) is None:
        raise NoCommand("no such command")
    folder = pipes.scratch / "live"
    folder.mkdir()
    (folder / "pipes").write_text(json.dumps(pipes.names))
    startup = pipes.scratch / "startup"
    startup.mkdir()
    shutil.copyfile(CHILDREN / "export_watcher.py", startup / "sitecustomize.py")
    paths = (str(startup), os.environ.get("PYTHONPATH", ""))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "SYMFIX_LIVE": str(folder),
        "SYMFIX_CHILDREN": str(CHILDREN),
    }
    held, lifeline = os.pipe()
    status, told = os.pipe()
    try:
        attendant = subprocess.Popen(
            [sys.executable, "-I", "-S", str(CHILDREN / "lifeline.py"), str(held), str(told), *command],
            pass_fds=(held, told),
            env=environment,
        )
    finally:
        os.close(held)
        os.close(told)
    with attendant, supervised(attendant.pid, lifeline):
        try:
            yield Attended(folder, status)
        finally:
            with suppress(OSError):
                os.close(lifeline)
            attendant.wait()
            os.close(status)
