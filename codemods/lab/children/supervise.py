"""Run one command in its own session, network and limits; whatever it leaves running is killed.

Started as ``python -I -S supervise.py STATUS_FD`` with the request as the first line of a pipe on stdin: when the
pipe closes, whoever asked is gone, and the command is killed. The supervisor is the subreaper of all that the command
starts, so a process that detaches itself comes back as a child and is killed with the rest.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
REAP_SECONDS = 10.0
TICK_SECONDS = 0.5
LAST = 19
"""How nice a process can be."""
WALK_PAUSE, LONGEST_PAUSE_SECONDS = 200.0, 20.0
"""How many times as long as the last walk of the scratch folder took, until the next; and no longer than so."""


def main() -> None:
    request: dict[str, Any] = json.loads(read_line(0))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    offline = leave_network(libc) if request["offline"] else False
    status: dict[str, Any]
    if request["offline"] == "require" and not offline:
        status = {"refused": "this kernel lets no process leave the network (unshare failed)"}
    else:
        status = {"offline": offline, **supervise(request, libc)}
    try:
        os.write(int(sys.argv[1]), json.dumps(status).encode())
    except BrokenPipeError:
        sys.exit(1)


def read_line(source: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(source, 65536)
        if not piece:
            sys.exit("the request ended early")
        line += piece
    return line


def leave_network(libc: ctypes.CDLL) -> bool:
    if libc.unshare(CLONE_NEWNET) == 0:
        return True
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return False
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        Path(f"/proc/self/{name}").write_text(text)
    return True


def supervise(request: dict[str, Any], libc: ctypes.CDLL) -> dict[str, Any]:
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        become(request, libc)
    timed_out, abandoned, stopped = wait(child, started + request["wall"], Watch(request))
    end_group(child)
    _, code, usage = os.wait4(child, 0)
    left = reap_descendants()
    return {
        "code": os.waitstatus_to_exitcode(code),
        "timed_out": timed_out,
        "abandoned": abandoned,
        "stopped": stopped,
        "left_running": left,
        "seconds": time.monotonic() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_kb": usage.ru_maxrss,
    }


def become(request: dict[str, Any], libc: ctypes.CDLL) -> None:
    try:
        libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        os.setsid()
        if request["aside"]:
            stand_aside()
        for name, value in request["limits"].items():
            resource.setrlimit(getattr(resource, name), tuple(value))
        os.chdir(request["cwd"])
        source = os.open(os.devnull, os.O_RDONLY)
        for number, path in ((0, None), (1, request["stdout"]), (2, request["stderr"])):
            target = source if path is None else os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(target, number)
        os.closerange(3, 256)
        os.execvpe(request["command"][0], request["command"], request["environment"])
    except OSError as error:
        os.write(2, f"{request['command'][0]}: {error}\n".encode())
    os._exit(127)


def stand_aside() -> None:
    """Leave the processors to everybody else; the kernel weighs sessions first, then the processes of each."""
    os.nice(LAST)
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(LAST))


class Watch:
    """Limits that the kernel does not keep: all bytes below the scratch folder, all processes of the child."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.scratch = request["scratch"]
        self.disk = request["disk"]
        self.processes = request["processes"]
        self.next_walk = 0.0

    def complaint(self) -> str:
        """What went beyond its limit, in words; empty when nothing did."""
        count = len(descendants_of(os.getpid()))
        if count > self.processes:
            return f"{count} processes at a time"
        # Walking a large folder is slow: it takes a small share of the time. The free bytes of the disk tell nothing,
        # as others write and remove files too.
        started = time.monotonic()
        if started < self.next_walk:
            return ""
        size = size_of(self.scratch)
        ended = time.monotonic()
        self.next_walk = ended + min(LONGEST_PAUSE_SECONDS, WALK_PAUSE * (ended - started))
        return f"more than {self.disk // 1024**2} MiB written" if size > self.disk else ""


def wait(child: int, deadline: float, watch: Watch) -> tuple[bool, bool, str]:
    """Whether the deadline passed, whether the one who asked went away, and which limit was passed, before the end."""
    ended = os.pidfd_open(child)
    try:
        while True:
            left = deadline - time.monotonic()
            ready, _, _ = select.select([ended, 0], [], [], min(TICK_SECONDS, max(0.0, left)))
            if ready:
                return False, ended not in ready, ""
            if left <= TICK_SECONDS and time.monotonic() >= deadline:
                return True, False, ""
            complaint = watch.complaint()
            if complaint:
                return False, False, complaint
    finally:
        os.close(ended)


def size_of(folder: str) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(place, name)).st_blocks * 512  # noqa: PTH118
            except OSError:
                continue
    return total


def end_group(child: int) -> None:
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)


def reap_descendants() -> int:
    """Kill and collect whatever outlived the child; the number of them."""
    collected = 0
    deadline = time.monotonic() + REAP_SECONDS
    while time.monotonic() < deadline:
        for process in descendants_of(os.getpid()):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            process, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        collected += process > 0
        if process == 0:
            time.sleep(0.01)
    return collected


def descendants_of(ancestor: int) -> set[int]:
    children = told_children if Path(f"/proc/{ancestor}/task/{ancestor}/children").exists() else children_by_parent()
    found, unseen = set[int](), {ancestor}
    while unseen:
        unseen = {child for process in unseen for child in children(process)} - found
        found |= unseen
    return found - {ancestor}


def told_children(process: int) -> set[int]:
    """The children of one process as the kernel lists them: all processes of a machine take long to read."""
    found = set[int]()
    with suppress(OSError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            with suppress(OSError):
                found.update(map(int, (thread / "children").read_bytes().split()))
    return found


def children_by_parent() -> Callable[[int], set[int]]:
    """What gives the children of a process where the kernel does not list them."""
    found: dict[int, set[int]] = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            text = (process / "stat").read_bytes()
            parent = int(text[text.rindex(b")") + 2 :].split()[1])
            found.setdefault(parent, set()).add(int(process.name))
    return lambda process: found.get(process, set())


if __name__ == "__main__":
    main()
