"""Ctrl-C handling: print one line, end all children and remove temporary files within two seconds, at any time.

No exception is raised. It would wait for threads that wait for children, and would leave imports as a traceback. Steps
that must not be left half done are atomic anyway, since a run can be killed at any time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import FrameType

INTERRUPTED = 2
_SECONDS_TO_END = 1.0
_SECONDS_IN_ALL = 1.5
_TICK = 0.02

_promised = "every file is either as it was or whole"
_installed_in = 0
_temporary: dict[Path, Path | None] = {}
_supervisors: dict[int, int] = {}


def install() -> None:
    """Install the Ctrl-C handler of this process, unless the parent process had Ctrl-C ignored."""
    global _installed_in
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _installed_in = os.getpid()
        # Only the main thread gets signals. In another thread, the process belongs to the caller.
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, _end)


def promise(what: str) -> None:
    """Set the message about the state that an interrupted run leaves."""
    global _promised
    _promised = what


@contextlib.contextmanager
def temporary(path: Path, mark: Path | None = None) -> Iterator[None]:
    """Remove a file or folder if the run is interrupted during the block.

    ``mark``, a file by which the next run recognizes a leftover, is removed afterwards. It is kept if ``path`` still
    exists, because a process still writes there.
    """
    _temporary[path] = mark
    try:
        yield
    finally:
        _temporary.pop(path, None)


@contextlib.contextmanager
def supervised(process: int, lifeline: int) -> Iterator[None]:
    """Register for the block a child that ends all of its own children when ``lifeline``, a pipe, is closed."""
    _supervisors[process] = lifeline
    try:
        yield
    finally:
        _supervisors.pop(process, None)


def _end(number: int, frame: FrameType | None) -> None:
    if os.getpid() != _installed_in:
        os._exit(INTERRUPTED)  # a forked process that has not started its own work
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, lambda *_: os._exit(INTERRUPTED))
    signal.setitimer(signal.ITIMER_REAL, _SECONDS_IN_ALL)
    try:
        # A bar that is being drawn has hidden the cursor.
        clear = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""
        with contextlib.suppress(OSError):
            os.write(2, f"{clear}symfix: interrupted; {_promised}\n".encode())
            # Another thread may be about to draw its bar again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        _end_children()
        _remove(dict(_temporary))
    finally:
        os._exit(INTERRUPTED)


def _remove(marks: dict[Path, Path | None]) -> None:
    import shutil

    for path, mark in marks.items():
        with contextlib.suppress(OSError):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
        with contextlib.suppress(OSError):
            if mark is not None and not path.exists():
                mark.unlink()


def _end_children() -> None:
    for lifeline in list(_supervisors.values()):
        with contextlib.suppress(OSError):
            os.close(lifeline)
    for process in _children() - _supervisors.keys():
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGTERM)
    deadline = time.monotonic() + _SECONDS_TO_END
    while any(map(_runs, list(_supervisors))) and time.monotonic() < deadline:
        time.sleep(_TICK)


def _children() -> set[int]:
    found = set()
    if sys.platform == "linux":
        for task in os.listdir("/proc/self/task"):  # noqa: PTH208
            with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/children") as children:  # noqa: PTH123
                found |= {int(word) for word in children.read().split()}
    return found


def _runs(process: int) -> bool:
    try:
        return os.waitpid(process, os.WNOHANG)[0] == 0
    except ChildProcessError:
        return False
