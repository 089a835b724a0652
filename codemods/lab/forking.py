"""A laboratory whose children are forked off processes that hold torch ready: a trial begins at once."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

from .isolation import Ended, Limits
from .scratch import new_name
from .variants import Laboratory

_FOR_EVER = 30 * 24 * 3600
_COLD = 75
"""What a fork exits with that can't do without an import of its own: EX_TEMPFAIL, which nothing else uses here."""


@contextmanager
def forking(laboratory: Laboratory, processes: int) -> Iterator[Laboratory]:
    """For the length of the block, a laboratory whose children are forks of ``processes`` that have imported torch.

    A fork runs the functions of changed modules with their new code. What only an import brings, and whatever is asked
    when such a process has died, goes to a process of its own, as in ``laboratory``. What a fork finds out is a hint:
    what counts as proof is asked of a torch that was started with the change.
    """
    parents = [_Parent(laboratory) for _ in range(processes)]
    free: SimpleQueue[_Parent] = SimpleQueue()
    for parent in parents:
        free.put(parent)
    try:
        yield _Forking(laboratory.python, laboratory.scratch, laboratory.limits, free)
    finally:
        for parent in parents:
            parent.end()


@dataclass(frozen=True)
class _Forking(Laboratory):
    free: SimpleQueue[_Parent] = field(default_factory=SimpleQueue)

    def start(self, child: str, question: Path, limits: Limits) -> Ended:
        parent = self.free.get()
        try:
            ended = parent.fork(child, question, limits)
        finally:
            self.free.put(parent)
        return ended if ended is not None and ended.code != _COLD else super().start(child, question, limits)


class _Parent:
    """A process that holds torch ready, started when it is first needed; one fork of it runs at a time."""

    def __init__(self, laboratory: Laboratory) -> None:
        self._laboratory = laboratory
        self._orders = laboratory.scratch / new_name("orders")
        self._endings = laboratory.scratch / new_name("endings")
        self._pipes: tuple[int, int] | None = None
        self._life = Thread(target=self._live, daemon=True)
        self._over = False

    def fork(self, child: str, question: Path, limits: Limits) -> Ended | None:
        """How the child ended; None where the process is no more."""
        if self._over:
            return None
        orders, endings = self._pipes or self._begin()
        stdout, stderr = (self._laboratory.scratch / new_name(name) for name in ("stdout", "stderr"))
        order = {
            "child": child,
            "question": str(question),
            "wall": limits.wall,
            "cpu": limits.cpu,
            "cold": _COLD,
            "stdout": str(stdout),
            "stderr": str(stderr),
        }
        os.write(orders, json.dumps(order).encode() + b"\n")
        said = _line(endings)
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

    def _begin(self) -> tuple[int, int]:
        for pipe in (self._orders, self._endings):
            os.mkfifo(pipe, 0o600)
        # Open for both directions, so that neither side waits for the other to open its end.
        self._pipes = os.open(self._orders, os.O_RDWR), os.open(self._endings, os.O_RDWR)
        self._life.start()
        return self._pipes

    def _live(self) -> None:
        question = self._laboratory.scratch / new_name("request")
        question.write_text(json.dumps({"orders": str(self._orders), "endings": str(self._endings)}))
        limits = replace(self._laboratory.limits, wall=_FOR_EVER, cpu=_FOR_EVER)
        self._laboratory.start("forking", question, limits)
        # Whoever waits for an ending gets an empty line.
        if self._pipes is not None:
            os.write(self._pipes[1], b"\n")

    def end(self) -> None:
        """Let the process end, which may still be importing torch, and wait for it."""
        self._over = True
        if self._pipes is not None:
            os.write(self._pipes[0], b"null\n")
            self._life.join()
            for pipe in self._pipes:
                os.close(pipe)


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
