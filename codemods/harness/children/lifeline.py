"""Wrapper that runs a user's own command unchanged and can kill all of its processes.

Started as ``python -I -S lifeline.py LIFELINE STATUS COMMAND…`` with two pipes. When LIFELINE closes, the caller has
exited or cancelled, and all processes are killed. STATUS gets the exit code of the command, or the reason why it did
not start. Processes that the command leaves running at its own end are not killed.
"""
# ruff: noqa: PTH123

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
TICK_SECONDS = 0.5
END_SECONDS = 10.0


def main() -> None:
    lifeline, status = int(sys.argv[1]), int(sys.argv[2])
    command = sys.argv[3:]
    # Ctrl-C is for the command and for the calling process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.set_inheritable(lifeline, False)
    os.set_inheritable(status, False)
    child = os.fork()
    if child == 0:
        begin(command, status)
    for number in (0, 1, 2):
        # A reader of the command's output must not wait for this process to close it.
        leave(number)
    handle = os.pidfd_open(child)
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    waiting.register(lifeline, select.POLLIN | select.POLLHUP)
    while True:
        ready = {number for number, _ in waiting.poll(TICK_SECONDS * 1000)}
        if lifeline in ready:
            end_all()
            return
        if handle in ready:
            _, how = os.waitpid(child, 0)
            os.write(status, f"ended {os.waitstatus_to_exitcode(how)}\n".encode())
            return
        reap(child)


def begin(command: list[str], status: int) -> None:
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(status, f"refused {error.strerror}\n".encode())
    finally:
        os._exit(127)


def leave(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        return
    os.dup2(os.open(os.devnull, os.O_RDWR), number)


def reap(child: int) -> None:
    """Reap orphaned descendants that were reparented to this process."""
    for process in children(os.getpid()):
        if process != child:
            try:
                os.waitpid(process, os.WNOHANG)
            except ChildProcessError:
                continue


def end_all() -> None:
    deadline = time.monotonic() + END_SECONDS
    while time.monotonic() < deadline:
        left = below(os.getpid())
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue
        except ChildProcessError:
            return
        time.sleep(0.01)


def below(process: int) -> list[int]:
    """Return all descendants of a process."""
    found = children(process)
    for child in list(found):
        found += below(child)
    return found


def children(process: int) -> list[int]:
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{process}/task"):  # noqa: PTH208
            with open(f"/proc/{process}/task/{task}/children") as file:
                found += map(int, file.read().split())
    except OSError:
        return found
    return found


if __name__ == "__main__":
    main()
