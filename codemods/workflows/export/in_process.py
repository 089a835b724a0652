"""Export of a model that exists only in this process."""

from __future__ import annotations

import linecache
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

from ...harness.children.entrypoints import exported_model
from ...harness.children.entrypoints.live_target import ExportCall, hold, serve
from ...harness.live_laboratory import Pipes, living
from ...harness.temp_folder import scratch_folder
from .outcome import ExportOutcome
from .procedure import ExportRequest
from .procedure import export as run_export

_TICK = 0.2


def export_here(call: ExportCall, wanted: ExportRequest, progress: Callable[[str], None]) -> ExportOutcome:
    """Search in this process for the one target of ``wanted``, with each trial in a fork of it. Raises TorchError."""
    (name,) = wanted.targets
    with ExitStack() as stack:
        scratch = stack.enter_context(scratch_folder())
        stack.enter_context(_cells_as_files())
        hold(name, call)
        stack.callback(exported_model.living.pop, name, None)
        pipes = Pipes(scratch, wanted.jobs)
        stack.callback(pipes.close)
        servers = serve(pipes.names)
        stack.callback(_end, list(servers))
        lab = stack.enter_context(living(Path(sys.executable), wanted.limits, pipes, list(servers)))
        return _interruptible(lambda: run_export(replace(wanted, living=lab), scratch, progress), list(servers))


def _interruptible(run: Callable[[], ExportOutcome], servers: Sequence[int]) -> ExportOutcome:
    """Run in a thread, so that a notebook's interrupt can end the forks that other threads wait for."""
    found: list[ExportOutcome] = []
    raised: list[BaseException] = []
    # An interrupted join marks the thread as ended.
    over = Event()

    def search() -> None:
        try:
            found.append(run())
        except BaseException as error:
            raised.append(error)
        finally:
            over.set()

    Thread(target=search, name="symfix", daemon=True).start()
    try:
        while not over.wait(_TICK):
            pass
    except BaseException:
        for server in servers:
            _kill(server)
        over.wait()
        raise
    if raised:
        raise raised[0]
    return found[0]


def _kill(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _end(servers: Sequence[int]) -> None:
    """Kill the idle servers, and the forks of each with it."""
    for server in servers:
        _kill(server)
        with suppress(ChildProcessError):
            os.waitpid(server, 0)


@contextmanager
def _cells_as_files() -> Iterator[None]:
    """Write the cells of a notebook as files under their code's names for the length of the block."""
    written = []
    temporary = Path(tempfile.gettempdir()).resolve()
    for name, entry in list(linecache.cache.items()):
        path = Path(name)
        if len(entry) < 4 or path.suffix != ".py" or not path.is_absolute() or path.exists():
            continue
        if path.resolve().is_relative_to(temporary):
            with suppress(OSError):
                path.parent.mkdir(mode=0o700, exist_ok=True)
                path.write_text("".join(entry[2]), encoding="utf-8")
                written.append(path)
    try:
        yield
    finally:
        for path in written:
            path.unlink(missing_ok=True)
