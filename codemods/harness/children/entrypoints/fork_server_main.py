"""Fork server: imports torch and its tests once, and answers each request in a forked process.

An import takes seconds, a fork none. A change that needs an import is not tried here, unless it was overlaid before the
import. The child reports this by its exit code.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, NoReturn

from ..overlay import changed_torch
from ..overlay.hot_swap import TooDeep
from ..overlay.import_hooks import Used, collecting_nothing, imported
from .supervise import stand_aside

_PR_SET_PDEATHSIG = 1


def main(request_path: str) -> None:
    """Fork a server for each pair of pipes, to read orders from the first and write results to the second.

    The request groups modules to import and pairs of pipes in stages. A server has imported the modules of its stage
    and of those before. With ``exchange``, the code that the imports use is recorded.
    """
    request: dict[str, Any] = json.loads(Path(request_path).read_bytes())
    changed_torch.lay(request["modules"], request["wanted"])
    changed_torch.used = Used() if request["exchange"] else None
    serving: dict[int, Path] = {}
    for stage in request["stages"]:
        with collecting_nothing(), changed_torch.used.noting() if changed_torch.used else nullcontext():
            for name in stage["modules"]:
                # The child that needs a missing module raises a better error.
                with suppress(ModuleNotFoundError):
                    imported(name)
            if request["traces"]:
                # Imports torch, which has to be overlaid before.
                from ..protocols.dynamo_setup import trace_once

                trace_once()
        for orders, endings in stage["pipes"]:
            server = os.fork()
            if server == 0:
                serve_all(Path(orders), Path(endings))
            serving[server] = Path(endings)
    while serving:
        ended, _ = os.wait()
        # An empty line wakes the thread that waits for an ending.
        with serving.pop(ended).open("w") as telling:
            telling.write("\n")
    # The teardown of torch takes half a second.
    os._exit(0)


def serve_all(through: Path, into: Path) -> NoReturn:
    """Serve orders, one per line, until one is null."""
    try:
        _die_with_parent()
        with through.open() as orders, into.open("w") as endings:
            while (order := json.loads(orders.readline() or "null")) is not None:
                endings.write(json.dumps(_serve(order)) + "\n")
                endings.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(0)


def _serve(order: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _become(order)
    handle = os.pidfd_open(child)
    ending = select.poll()
    ending.register(handle, select.POLLIN)
    ready = ending.poll(order["wall"] * 1000)
    os.close(handle)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "timed_out": not ready,
        "seconds": time.monotonic() - started,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_kb": usage.ru_maxrss,
    }


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _become(order: dict[str, Any]) -> None:
    code = 1
    try:
        _die_with_parent()
        os.setsid()
        if order["aside"]:
            stand_aside()
        resource.setrlimit(resource.RLIMIT_CPU, (order["cpu"], order["cpu"] + 5))
        for number, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), number)
        changed_torch.imported_already = True
        importlib.import_module(f"{__package__}.{order['child']}").main(order["question"])
        code = 0
    except TooDeep:
        code = order["cold"]
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
