"""Subprocesses with limits on time, memory, disk, processes and output."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from pathlib import Path

from ..system.sigint import supervised
from . import bubblewrap
from .temp_folder import new_name

CHILDREN = Path(__file__).parent / "children"
"""Folder of the scripts that run in child processes."""
_SUPERVISOR = CHILDREN / "entrypoints" / "supervise.py"
_KEPT_OUTPUT = 64 * 1024
_GRACE_SECONDS = 30.0

GIB = 1024**3


@lru_cache
def children_digest() -> str:
    """Return a hash over the sources of the child scripts, for the keys of what they compute."""
    texts = (path.read_bytes() for path in sorted(CHILDREN.rglob("*.py")))
    return hashlib.sha256(b"".join(hashlib.sha256(text).digest() for text in texts)).hexdigest()


class SandboxMissing(Exception):
    """Error raised when a sandbox is required and this machine does not support one."""


class Network(Enum):
    """Network access of a child."""

    KEPT = ""
    LEFT_IF_POSSIBLE = "try"
    """No network, if the kernel or bubblewrap can remove it."""
    LEFT = "require"
    """No network. The child is not run if neither the kernel nor bubblewrap can remove it."""


@dataclass(frozen=True)
class Limits:
    """Limits of a child, with times in seconds, and memory, the largest file and all files in bytes."""

    wall: float = 300.0
    cpu: int = 600
    memory: int = 12 * GIB
    file: int = 1 * GIB
    disk: int = 16 * GIB
    """Limit on all bytes in the scratch folder, including those that other children wrote there."""
    processes: int = 1024
    network: Network = Network.LEFT_IF_POSSIBLE
    aside: bool = False
    """True if the child runs at idle priority."""


@dataclass(frozen=True)
class Ended:
    """Result of a child process. ``code`` is its exit code, or minus the signal that ended it."""

    command: tuple[str, ...]
    code: int
    timed_out: bool
    seconds: float
    cpu: float
    peak_kb: int
    left_running: int
    """Number of processes that outlived the child and were killed. In a sandbox they end with it and are not
    counted."""
    offline: bool
    stopped: str
    """Reason why the child was stopped early, such as a limit that the kernel does not enforce, or empty."""
    walled: bool
    """True if the child could write only to its scratch folder."""
    stdout: str = field(repr=False)
    stderr: str = field(repr=False)

    @property
    def died(self) -> str | None:
        """Return the reason why the child was stopped or killed, as text, or None if it exited."""
        if self.timed_out:
            return f"stopped after {self.seconds:.0f} s"
        if self.stopped:
            return f"stopped: {self.stopped}"
        return f"ended by signal {signal_name(-self.code)}" if self.code < 0 else None


def lost(child: str, why: str) -> Ended:
    """Build the `Ended` of a child whose machine is gone."""
    return Ended((child,), -signal.SIGKILL, False, 0.0, 0.0, 0, 0, False, why, False, "", "")


def run(
    command: Sequence[str],
    *,
    scratch: Path,
    limits: Limits,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Ended:
    """Run ``command`` to its end or to its limits and return how it ended.

    With bubblewrap, the child can write only to ``scratch``. Raises SandboxMissing if ``limits.network`` is LEFT and
    there is neither bubblewrap nor a kernel that allows a private network.
    """
    stdout, stderr = scratch / new_name("stdout"), scratch / new_name("stderr")
    surroundings = dict(os.environ if environment is None else environment)
    place = (cwd or scratch).absolute()
    wall = bubblewrap.wall(scratch, place, limits.network is not Network.KEPT)
    # Temporary files of a killed compiler are removed with the scratch folder.
    if not Path(surroundings.get("TMPDIR", os.sep)).is_relative_to(scratch):
        surroundings["TMPDIR"] = str(scratch)
    settings = {
        "cwd": place,
        "scratch": scratch,
        "disk": limits.disk,
        "processes": limits.processes,
        "stdout": stdout,
        "stderr": stderr,
        "wall": limits.wall,
        "offline": "" if wall else limits.network.value,
        "aside": limits.aside,
        "RLIMIT_CPU": f"{limits.cpu} {limits.cpu + 5}",
        "RLIMIT_AS": f"{limits.memory} {limits.memory}",
        "RLIMIT_FSIZE": f"{limits.file} {limits.file}",
        "RLIMIT_CORE": "0 0",
    }
    status = _supervised(settings, [*wall, *command], surroundings, limits.wall + _GRACE_SECONDS)
    if "refused" in status:
        raise SandboxMissing(status["refused"])
    code = int(status["code"])
    if wall and code > bubblewrap.SIGNALLED:
        code = bubblewrap.SIGNALLED - code
    return Ended(
        command=tuple(command),
        code=code,
        timed_out=status["timed_out"] == "True",
        seconds=float(status["seconds"]),
        cpu=float(status["cpu"]),
        peak_kb=int(status["peak_kb"]),
        left_running=0 if wall else int(status["left_running"]),
        offline=status["offline"] == "True" or (bool(wall) and limits.network is not Network.KEPT),
        stopped=status["stopped"],
        walled=bool(wall),
        stdout=_take_text(stdout),
        stderr=_take_text(stderr),
    )


def _supervised(
    settings: Mapping[str, object], command: Sequence[str], environment: Mapping[str, str], patience: float
) -> dict[str, str]:
    named = [f"{name}={value}" for name, value in settings.items()]
    words = [*named, *command, *(f"{name}={value}" for name, value in environment.items())]
    if any("\0" in word for word in words):
        raise ValueError("a word of a command or of its environment holds a NUL")
    content = os.fsencode("".join(f"{word}\0" for word in words))
    request = b"%d %d %d\n" % (len(content), len(named), len(command)) + content
    read_end, write_end = os.pipe()
    try:
        supervisor = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_SUPERVISOR), str(write_end)],
            stdin=subprocess.PIPE,
            pass_fds=(write_end,),
            start_new_session=True,
        )
    finally:
        os.close(write_end)
    assert supervisor.stdin is not None
    lifeline = supervised(supervisor.pid, supervisor.stdin.fileno())
    with os.fdopen(read_end, "rb") as pipe, supervisor, lifeline:
        supervisor.stdin.write(request)
        supervisor.stdin.flush()
        try:
            status = pipe.read()
            supervisor.stdin.close()
            supervisor.wait(patience)
        except BaseException:
            supervisor.stdin.close()
            supervisor.wait(_GRACE_SECONDS)
            raise
    if not status:
        raise RuntimeError(f"the supervisor of {command[0]} died (exit {supervisor.returncode})")
    answer = os.fsdecode(status).split("\0")[:-1]
    return {name: value for name, _, value in (word.partition("=") for word in answer)}


def _take_text(path: Path) -> str:
    """Return the head and the tail of a captured output, and remove the file."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= 2 * _KEPT_OUTPUT:
                data = file.read()
            else:
                head = file.read(_KEPT_OUTPUT)
                file.seek(size - _KEPT_OUTPUT)
                data = head + f"\n… {size - 2 * _KEPT_OUTPUT} bytes left out …\n".encode() + file.read()
    except FileNotFoundError:
        return ""
    path.unlink()
    return data.decode("utf-8", "replace")


def signal_name(number: int) -> str:
    """Return the name of a signal, such as ``SIGSEGV`` for 11, or the number if it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
