"""Supervisor that runs one command in its own session, network and limits, and kills its remaining processes.

Started as ``python -I -S supervise.py STATUS_FD`` with the request on a pipe on stdin. When the pipe closes, the caller
has exited, and the command is killed. The supervisor is the subreaper of all processes that the command starts. A
process that detaches itself is reparented to it and killed with the rest.

A request is a line of three numbers and a sequence of words that each end with a NUL. The numbers are the count of
bytes that follow, of words that are settings, and of words that are the command. The settings come first, and the
environment last, both as ``name=value``. The answer is a sequence of such words, written to STATUS_FD.

One supervisor is started for each child, so it imports next to nothing: json, pathlib, typing, contextlib and signal
took more than half of its time.
"""
# ruff: noqa: PTH110, PTH118, PTH123, PTH208, SIM105

from __future__ import annotations

import ctypes
import os
import resource
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

KILL = 9
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
REAP_SECONDS = 10.0
TICK_SECONDS = 0.5
LAST = 19
"""Highest nice value of a process."""
WALK_PAUSE, LONGEST_PAUSE_SECONDS = 200.0, 20.0
"""Pause between walks of the scratch folder, as a multiple of the duration of the last walk, and its maximum."""


def main() -> None:
    request = read_request(0)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    wanted = request.settings["offline"]
    offline = leave_network(libc) if wanted else False
    status: dict[str, object]
    if wanted == "require" and not offline:
        status = {"refused": "this kernel lets no process leave the network (unshare failed)"}
    else:
        status = {"offline": offline, **supervise(request, libc)}
    try:
        os.write(int(sys.argv[1]), b"".join(os.fsencode(f"{name}={value}\0") for name, value in status.items()))
    except BrokenPipeError:
        sys.exit(1)


class ChildRequest:
    """Command to run, its settings and its environment. The names of ``settings`` are those in `isolation.run`."""

    def __init__(self, settings: list[str], command: list[str], environment: list[str]) -> None:
        self.settings = named(settings)
        self.command = command
        self.environment = named(environment)


def read_request(source: int) -> ChildRequest:
    """Read the request from a pipe, which stays open."""
    content = b""
    while True:
        line, _, rest = content.partition(b"\n")
        length, settings, command = map(int, line.split()) if b"\n" in content else (-1, 0, 0)
        if len(rest) == length:
            words = os.fsdecode(rest).split("\0")[:-1]
            return ChildRequest(words[:settings], words[settings : settings + command], words[settings + command :])
        piece = os.read(source, 65536)
        if not piece:
            sys.exit("the request ended early")
        content += piece


def named(words: list[str]) -> dict[str, str]:
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


def read(path: str) -> bytes:
    """Return the bytes of a file, or none if it is gone."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def listed(folder: str) -> list[str]:
    """Return the names in a folder, or none if it is gone."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def leave_network(libc: ctypes.CDLL) -> bool:
    if libc.unshare(CLONE_NEWNET) == 0:
        return True
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return False
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        write(f"/proc/self/{name}", text)
    return True


def supervise(request: ChildRequest, libc: ctypes.CDLL) -> dict[str, object]:
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        become(request, libc)
    timed_out, abandoned, stopped = wait(child, started + float(request.settings["wall"]), Watch(request.settings))
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


def become(request: ChildRequest, libc: ctypes.CDLL) -> NoReturn:
    settings = request.settings
    try:
        libc.prctl(PR_SET_PDEATHSIG, KILL, 0, 0, 0)
        os.setsid()
        if settings["aside"] == "True":
            stand_aside()
        for name in (name for name in settings if name.startswith("RLIMIT_")):
            soft, hard = map(int, settings[name].split())
            resource.setrlimit(getattr(resource, name), (soft, hard))
        os.chdir(settings["cwd"])
        source = os.open(os.devnull, os.O_RDONLY)
        for number, path in ((0, None), (1, settings["stdout"]), (2, settings["stderr"])):
            target = source if path is None else os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(target, number)
        os.closerange(3, 256)
        os.execvpe(request.command[0], request.command, request.environment)
    except OSError as error:
        os.write(2, f"{request.command[0]}: {error}\n".encode())
    os._exit(127)


def stand_aside() -> None:
    """Lower the priority to idle. The kernel weighs sessions first, then the processes of each."""
    os.nice(LAST)
    try:
        write("/proc/self/autogroup", str(LAST))
    except OSError:
        pass


class Watch:
    """Limits that the kernel does not enforce: all bytes below the scratch folder, all processes of the child."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.scratch = settings["scratch"]
        self.disk = int(settings["disk"])
        self.processes = int(settings["processes"])
        self.next_walk = 0.0

    def complaint(self) -> str:
        """Return the exceeded limit as text, or "" if there is none."""
        count = len(descendants_of(os.getpid()))
        if count > self.processes:
            return f"{count} processes at a time"
        # Walking a large folder is slow: it takes a small share of the time. The free bytes of the disk are no measure,
        # as others write and remove files too.
        started = time.monotonic()
        if started < self.next_walk:
            return ""
        size = size_of(self.scratch)
        ended = time.monotonic()
        self.next_walk = ended + min(LONGEST_PAUSE_SECONDS, WALK_PAUSE * (ended - started))
        return f"more than {self.disk // 1024**2} MiB written" if size > self.disk else ""


def wait(child: int, deadline: float, watch: Watch) -> tuple[bool, bool, str]:
    """Return whether the deadline passed, whether the caller exited, and the exceeded limit, at the first event."""
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
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
            except OSError:
                continue
    return total


def end_group(child: int) -> None:
    try:
        os.killpg(child, KILL)
    except ProcessLookupError:
        os.kill(child, KILL)


def reap_descendants() -> int:
    """Kill and reap the processes that outlived the child, and return their number."""
    collected = 0
    deadline = time.monotonic() + REAP_SECONDS
    while time.monotonic() < deadline:
        for process in descendants_of(os.getpid()):
            try:
                os.kill(process, KILL)
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
    told = os.path.exists(f"/proc/{ancestor}/task/{ancestor}/children")
    children = told_children if told else children_by_parent()
    found, unseen = set[int](), {ancestor}
    while unseen:
        unseen = {child for process in unseen for child in children(process)} - found
        found |= unseen
    return found - {ancestor}


def told_children(process: int) -> set[int]:
    """Return the children of one process from the kernel's list, since reading all processes takes long."""
    found = set[int]()
    for thread in listed(f"/proc/{process}/task"):
        found.update(map(int, read(f"/proc/{process}/task/{thread}/children").split()))
    return found


def children_by_parent() -> Callable[[int], set[int]]:
    """Return a function for the children of a process, for a kernel that does not list them."""
    found: dict[int, set[int]] = {}
    for process in filter(str.isdigit, listed("/proc")):
        _, _, words = read(f"/proc/{process}/stat").rpartition(b")")
        if words:
            found.setdefault(int(words.split()[1]), set()).add(int(process))
    return lambda process: found.get(process, set())


if __name__ == "__main__":
    main()
