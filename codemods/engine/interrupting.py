"""Ctrl-C: one line, no children left, nothing temporary left, within two seconds, wherever the run is.

No exception is raised: it would wait for threads that wait for children, and come out of imports as a traceback. What
a run must not leave half done it does in one step anyway, since it can be killed at any time.
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
    """From now on Ctrl-C ends this process so, unless whoever started it wanted Ctrl-C ignored."""
    global _installed_in
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _installed_in = os.getpid()
        # Only a main thread gets signals; in another one the process is somebody else's.
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, _end)


def promise(what: str) -> None:
    """What the line shall say of the state that the interrupted run leaves."""
    global _promised
    _promised = what


@contextlib.contextmanager
def temporary(path: Path, mark: Path | None = None) -> Iterator[None]:
    """For the length of the block, a file or folder goes when the run is interrupted.

    ``mark``, a file by which the next run knows a leftover, goes after it; it stays where something still writes there.
    """
    _temporary[path] = mark
    try:
        yield
    finally:
        _temporary.pop(path, None)


@contextlib.contextmanager
def supervised(process: int, lifeline: int) -> Iterator[None]:
    """For the length of the block, a child that ends all of its own children when ``lifeline``, a pipe, is closed."""
    _supervisors[process] = lifeline
    try:
        yield
    finally:
        _supervisors.pop(process, None)


def _end(number: int, frame: FrameType | None) -> None:
    if os.getpid() != _installed_in:
        os._exit(INTERRUPTED)  # a process that was forked and did not get to its own business
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, lambda *_: os._exit(INTERRUPTED))
    signal.setitimer(signal.ITIMER_REAL, _SECONDS_IN_ALL)
    try:
        # A bar that is being drawn has hidden the cursor.
        clear = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""
        with contextlib.suppress(OSError):
            os.write(2, f"{clear}symfix: interrupted; {_promised}\n".encode())
            # Another thread may be about to draw its bar once more.
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
