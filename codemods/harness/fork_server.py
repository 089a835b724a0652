"""Harness whose children are forks of a process that has imported torch, so that a trial starts without an import."""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from ..system.python_parser import parse_module
from .process_limits import Ended, Limits
from .temp_folder import new_name
from .torch_variant import Harness, Replayed, Variant

_FOR_EVER = 30 * 24 * 3600
_COLD = 75
"""Exit code of a fork that needs an import of its own: EX_TEMPFAIL, which has no other use here."""


_TORCH = ("torch", "torch._dynamo")
TESTS = ("torch.testing._internal.common_methods_invocations",)
"""Modules of torch's own operator tests."""
TRACED_TESTS = (
    "torch._dynamo.backends.registry",
    "torch._functorch.aot_autograd",
    "torch._inductor.compile_fx",
    "torch.export._trace",
    "torch.fx.experimental.symbolic_shapes",
    "torch.fx.experimental.validator",
    "torch.distributed.tensor.experimental._attention",
    "sympy.tensor.tensor",
    *TESTS,
)
"""The same and those that a first compilation imports in a fifth of a second. A release of torch may lack some."""
EXPORTS = ("torch.export._trace",)
"""Modules that an export needs, for forks that export models, whose files no other process imports."""
_UNCHANGED = Variant("laid")
_TELLING = frozenset({"environ", "putenv", "importlib", "runpy", "__import__", "eval", "exec"})
"""Words of a script that may change settings that torch reads only at its import."""


@contextmanager
def forking(
    laboratory: Harness,
    processes: int,
    *,
    laid: Variant = _UNCHANGED,
    preloaded: Sequence[str] = TRACED_TESTS,
    at_once: bool = False,
    scripts: bool = False,
    exchange: bool = False,
    traces: bool = False,
) -> Iterator[Forking]:
    """Yield a harness whose children are forks of a process that has imported torch.

    At most ``processes`` run at a time. Torch is imported at the first request, or immediately if ``at_once``, and the
    modules ``preloaded`` after it. The changed modules of ``laid`` are overlaid on it.

    A variant of exactly these modules runs as if torch had been started for it. Its ``wanted`` must be empty or equal
    to that of ``laid``. Otherwise it runs in a process of its own.

    With ``exchange`` and no modules in ``laid``, a fork replaces the code of changed functions, if the import neither
    ran nor read them. A change that needs an import runs in a process of its own, as in ``laboratory``. So does every
    request after the process has died. A library of kernels is loaded into a torch that was imported without it in
    either case.

    With ``traces`` a small module is exported and compiled before the forks, which then find torch's caches filled.

    ``scripts`` adds the same number of forks that replay scripts. They do not import torch's tests, because that import
    changes settings of torch.
    """
    stages = [(_TORCH, processes), (preloaded, processes)] if scripts else [((*_TORCH, *preloaded), processes)]
    warm = _Warm(laboratory, stages, laid, exchange=exchange, traces=traces)
    *first, last = (queue_of(servers) for _, servers in warm.stages)
    if at_once:
        warm.begin()
    try:
        yield Forking(laboratory.python, laboratory.scratch, laboratory.limits, warm, last, *first)
    finally:
        warm.end()


def queue_of(servers: Sequence[Server]) -> SimpleQueue[Server]:
    """Build a queue of free servers."""
    free: SimpleQueue[Server] = SimpleQueue()
    for server in servers:
        free.put(server)
    return free


@dataclass(frozen=True)
class Forking(Harness):
    """Harness that `forking` yields."""

    warm: _Warm
    free: SimpleQueue[Server]
    replaying: SimpleQueue[Server] | None = None

    @property
    def over(self) -> bool:
        """Return whether the process that has imported torch has died."""
        return self.warm.over

    def replay(self, variant: Variant, script: Path | None) -> Replayed:
        if script is not None and not finds_torch_as_it_is(script.read_bytes()):
            return Harness(self.python, self.scratch, self.limits).replay(variant, script)
        return super().replay(variant, script)

    def start(self, child: str, question: Path, limits: Limits) -> Ended:
        free = self.replaying if self.replaying is not None and child == "replay" else self.free
        server = free.get()
        try:
            ended = server.fork(child, question, limits)
        finally:
            free.put(server)
        return ended if ended is not None and ended.code != _COLD else super().start(child, question, limits)


def finds_torch_as_it_is(script: bytes) -> bool:
    """Return whether a script cannot affect how torch is imported.

    A user's module could do so unseen, so only imports of torch and of the standard library are accepted.
    """
    try:
        nodes = list(ast.walk(parse_module(script)))
    except (SyntaxError, ValueError, RecursionError):
        return False
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {f"{'.' * node.level}{node.module or ''}" for node in nodes if isinstance(node, ast.ImportFrom)}
    words = {node.id for node in nodes if isinstance(node, ast.Name)}
    words |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    words |= {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    roots = {name.partition(".")[0] for name in names}
    return roots <= {"torch", *sys.stdlib_module_names} and _TELLING.isdisjoint(words | roots)


class _Warm:
    """Process that has imported torch, with its servers grouped by the modules that they have imported."""

    def __init__(
        self,
        laboratory: Harness,
        stages: Sequence[tuple[Sequence[str], int]],
        laid: Variant,
        *,
        exchange: bool,
        traces: bool,
    ) -> None:
        self._laboratory = laboratory
        self._laid = laid
        self._options = {"exchange": exchange, "traces": traces}
        self.stages = [(modules, [Server(self.scratch, self.begin) for _ in range(count)]) for modules, count in stages]
        self._servers = [server for _, servers in self.stages for server in servers]
        self._pipes: dict[Server, tuple[Path, Path]] = {}
        self.over = False
        self._beginning = Lock()
        self._life = Thread(target=self._live, daemon=True)

    @property
    def scratch(self) -> Path:
        return self._laboratory.scratch

    def begin(self) -> None:
        """Start the process if it is not running."""
        with self._beginning:
            if self._pipes:
                return
            for server in self._servers:
                self._pipes[server] = orders, endings = (
                    self.scratch / new_name("orders"),
                    self.scratch / new_name("endings"),
                )
                for pipe in (orders, endings):
                    os.mkfifo(pipe, 0o600)
                # Open for both directions, so that neither side waits for the other to open its end.
                server.orders, server.endings = os.open(orders, os.O_RDWR), os.open(endings, os.O_RDWR)
            self._life.start()

    def _live(self) -> None:
        stages = [
            {"modules": modules, "pipes": [list(map(str, self._pipes[server])) for server in servers]}
            for modules, servers in self.stages
        ]
        question = self._laboratory.question(self._laid, {"stages": stages, **self._options})
        limits = replace(self._laboratory.limits, wall=_FOR_EVER, cpu=_FOR_EVER)
        self._laboratory.start("fork_server_main", question, limits)
        self.over = True
        # An empty line wakes a thread that waits for an ending.
        for server in self._servers:
            os.write(server.endings, b"\n")

    def end(self) -> None:
        """End the process, which may still be importing torch, and wait for it."""
        with self._beginning:
            if not self._pipes:
                return
        for server in self._servers:
            os.write(server.orders, b"null\n")
        self._life.join()
        for server in self._servers:
            os.close(server.orders)
            os.close(server.endings)


class Server:
    """Fork of the process that has imported torch, for one child at a time."""

    orders: int
    endings: int

    def __init__(self, scratch: Path, begin: Callable[[], None] = lambda: None) -> None:
        self._scratch = scratch
        self._begin = begin
        self._over = False

    def fork(self, child: str, question: Path, limits: Limits) -> Ended | None:
        """Run a child and return how it ended, or None if the server process has ended."""
        if self._over:
            return None
        self._begin()
        stdout, stderr = (self._scratch / new_name(name) for name in ("stdout", "stderr"))
        order = {
            "child": child,
            "question": str(question),
            "wall": limits.wall,
            "cpu": limits.cpu,
            "aside": limits.aside,
            "cold": _COLD,
            "stdout": str(stdout),
            "stderr": str(stderr),
        }
        os.write(self.orders, json.dumps(order).encode() + b"\n")
        said = _line(self.endings)
        if not said:
            self._over = True
            return None
        ending: dict[str, Any] = json.loads(said)
        return Ended(
            (child,),
            **ending,
            left_running=0,
            offline=False,
            stopped="",
            walled=False,
            stdout=_text(stdout),
            stderr=_text(stderr),
        )


def _line(source: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(source, 65536)
    return line.strip()


def _text(path: Path) -> str:
    with suppress(OSError):
        text = path.read_text("utf-8", "replace")
        path.unlink()
        return text
    return ""
