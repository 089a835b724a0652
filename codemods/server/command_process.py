"""Runs of symfix's command line in a process of its own, which ends with the call or the server that started it."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from subprocess import DEVNULL, PIPE

import anyio
from anyio.abc import ByteReceiveStream, Process

from ..harness.process_limits import CHILDREN
from ..system.sigint import supervised

_PROGRAM = Path(__file__).parents[2] / "__main__.py"
_LIFELINE = CHILDREN / "lifeline.py"
_GRACE_SECONDS = 2.0
_EVERY_SECONDS = 1.0
INTERVAL = "SYMFIX_PROGRESS_SECONDS"
"""Environment variable of a command for the interval between its lines about progress."""
_PROGRESS = re.compile(r"symfix: \d[\d,]* min\b(?:: )?(?P<now>.*)")

Report = Callable[[float, str], Awaitable[None]]
"""Function that receives the seconds since the start and the current step."""


@dataclass(frozen=True)
class CompletedCommand:
    """Exit code and output of a command. ``messages`` are the lines on stderr, without those about progress."""

    code: int
    output: str
    messages: tuple[str, ...]


async def run_command(words: Sequence[str], folder: Path, report: Report, text: str | None = None) -> CompletedCommand:
    """Run ``symfix`` with these words in a folder, with a text on stdin, and return what it printed.

    A cancelled call interrupts the command as Ctrl-C does. After a grace period, and at any end of this process, all
    processes of the command are killed.
    """
    # The path of the program, not its module: Python would take a module from the client's folder.
    program = [sys.executable, str(_PROGRAM), *words]
    with ExitStack() as pipes:
        held, lifeline, status, told = (pipes.enter_context(pipe) for pipe in (*opened_pipe(), *opened_pipe()))
        process = await anyio.open_process(
            [sys.executable, "-I", "-S", str(_LIFELINE), str(held.fileno()), str(told.fileno()), *program],
            stdin=DEVNULL if text is None else PIPE,
            cwd=folder,
            env={**os.environ, INTERVAL: str(_EVERY_SECONDS), "NO_COLOR": "1", "COLUMNS": "200"},
            pass_fds=(held.fileno(), told.fileno()),
            start_new_session=True,
        )
        held.close()
        told.close()
        with supervised(process.pid, lifeline.fileno()):
            try:
                output, messages = await _read(process, report, text)
            finally:
                with anyio.CancelScope(shield=True):
                    await _end(process, lifeline)
        ended = status.read().decode().split()
    lines = messages.decode("utf-8", "replace").splitlines()
    return CompletedCommand(
        int(ended[1]) if ended[:1] == ["ended"] else 2,
        output.decode("utf-8", "replace"),
        tuple(line for line in lines if line.strip() and not _PROGRESS.match(line)),
    )


def opened_pipe() -> tuple[FileIO, FileIO]:
    """Return the two ends of a pipe, as files, since the number of a closed end may belong to another call."""
    source, sink = os.pipe()
    return FileIO(source, "r"), FileIO(sink, "w")


async def _read(process: Process, report: Report, text: str | None) -> tuple[bytearray, bytearray]:
    output, messages = bytearray(), bytearray()
    started = time.monotonic()

    async def keep(stream: ByteReceiveStream | None, kept: bytearray) -> None:
        assert stream is not None
        async for piece in stream:
            kept.extend(piece)

    async def tell() -> None:
        while True:
            await anyio.sleep(_EVERY_SECONDS)
            steps = _PROGRESS.findall(messages.decode("utf-8", "replace"))
            await report(time.monotonic() - started, (steps[-1] if steps else "") or "running")

    async with anyio.create_task_group() as telling:
        telling.start_soon(tell)
        async with anyio.create_task_group() as reading:
            reading.start_soon(keep, process.stdout, output)
            reading.start_soon(keep, process.stderr, messages)
            if text is not None and process.stdin is not None:
                with suppress(anyio.BrokenResourceError):
                    await process.stdin.send(text.encode("utf-8", "replace"))
                await process.stdin.aclose()
        await process.wait()
        telling.cancel_scope.cancel()
    return output, messages


async def _end(process: Process, lifeline: FileIO) -> None:
    """Interrupt the command if it still runs, and kill what remains of it."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        with anyio.move_on_after(_GRACE_SECONDS):
            await process.wait()
    lifeline.close()
    await process.aclose()
