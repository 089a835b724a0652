"""Tests of the fork server cache: when two blocks share a process, and when it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from symfix.codemods.harness import fork_server_cache
from symfix.codemods.harness.children.entrypoints.supervise import descendants_of
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Variant
from symfix.codemods.torchapi.torch_finder import locate

MASKED = "torch.masked._ops"
SCRIPT = """import os, torch.masked._ops as ops
assert False, f"{os.readlink('/proc/self/ns/pid')} {os.getppid()} {getattr(ops, 'STARTED_WITH', 0)}"
"""
Process = tuple[str, int]
"""A process by its namespace and its number there, since bubblewrap numbers processes on its own."""
SECONDS_TO_END = 10.0


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    for held in fork_server_cache._places.kept.values():
        held.closing.close()
    fork_server_cache._places.kept.clear()


def started_with(number: int) -> dict[str, bytes]:
    text = (locate(None, None).package / "masked" / "_ops.py").read_text()
    return {MASKED: f"{text}\nSTARTED_WITH = {number}\n".encode()}


def server(laid: dict[str, bytes]) -> tuple[Process, int]:
    """Return the process that a fork comes from, and the number that its torch was started with."""
    with fork_server_cache.kept(locate(None, None).python, Limits(wall=60.0), laid) as (laboratory, files):
        script = laboratory.scratch / "script.py"
        script.write_text(SCRIPT)
        said = laboratory.replay(Variant("asked", modules=files), script).observation.message
    assert not laboratory.scratch.exists()
    namespace, process, number = said.split()[-3:]
    return (namespace, int(process)), int(number)


def here(process: Process) -> list[int]:
    """Return the number of a process in this namespace, if it runs."""
    found = []
    for number in descendants_of(os.getpid()):
        try:
            namespace = os.readlink(f"/proc/{number}/ns/pid")  # noqa: PTH115
            status = Path(f"/proc/{number}/status").read_text()
        except OSError:
            continue
        numbers = next(line.split()[1:] for line in status.splitlines() if line.startswith("NSpid:"))
        if (namespace, int(numbers[-1])) == process:
            found.append(number)
    return found


def ends(number: int) -> bool:
    deadline = time.monotonic() + SECONDS_TO_END
    while Path(f"/proc/{number}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not Path(f"/proc/{number}").exists()


def test_a_process_is_kept_for_the_same_modules_and_begun_anew_when_it_died() -> None:
    one, plain, again = server(started_with(1)), server({}), server(started_with(1))
    assert again == one and one[1] == 1, "beside the torch as installed"
    (first,) = here(one[0])
    other = server(started_with(2))
    assert other[1] == 2 and ends(first), "one with changed modules is kept"
    assert server({}) == plain
    (number,) = here(plain[0])
    os.kill(number, signal.SIGKILL)
    alone = server({})
    assert alone[1] == 0, "a process of its own answers"
    # The kernel may give the namespace of the killed process to a new one.
    assert server({})[0] != alone[0] and server({}) == server({}), "and the next ones are forked"


KEEPING = """
import time
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.fork_server_cache import kept
from symfix.codemods.harness.torch_variant import Variant
from symfix.codemods.torchapi.torch_finder import locate
with kept(locate(None, None).python, Limits(wall=60.0)) as (laboratory, _):
    laboratory.replay(Variant("installed"), None)
print("kept", flush=True)
time.sleep(60)
"""


def test_it_ends_with_the_process_that_keeps_it_however_that_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", KEEPING], stdout=subprocess.PIPE, text=True) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == "kept\n"
        below = descendants_of(keeper.pid)
        assert len(below) >= 3, "the supervisor, torch, and who serves"
        keeper.kill()
        keeper.wait(SECONDS_TO_END)
    assert all(ends(process) for process in below)
