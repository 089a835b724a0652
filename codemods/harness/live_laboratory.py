"""Harness whose children are forks of a process that contains a live model with all of its state."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from .fork_server import Server, queue_of
from .process_limits import Ended, Limits, lost
from .temp_folder import new_name
from .torch_variant import Harness

_CHILD = "live_target"


@dataclass(frozen=True)
class Living(Harness):
    """Harness that `living` yields."""

    free: SimpleQueue[Server]

    def start(self, child: str, question: Path, limits: Limits) -> Ended:
        server = self.free.get()
        try:
            ended = server.fork(_CHILD, question, limits)
        finally:
            self.free.put(server)
        return ended if ended is not None else lost(child, "the process that held the model ended")


class Pipes:
    """Two named pipes for each server: one for orders, one for the results of its children."""

    def __init__(self, scratch: Path, count: int) -> None:
        self.scratch = scratch
        self.names: list[tuple[str, str]] = []
        self.servers: list[Server] = []
        for _ in range(count):
            orders, endings = scratch / new_name("orders"), scratch / new_name("endings")
            for pipe in (orders, endings):
                os.mkfifo(pipe, 0o600)
            server = Server(scratch)
            # Open for both directions, so that neither side waits for the other to open its end.
            server.orders, server.endings = os.open(orders, os.O_RDWR), os.open(endings, os.O_RDWR)
            self.names.append((str(orders), str(endings)))
            self.servers.append(server)

    def end(self) -> None:
        """Order the servers to end."""
        for server in self.servers:
            os.write(server.orders, b"null\n")

    def give_up(self) -> None:
        """Wake the threads that wait for a result, since none will come."""
        for server in self.servers:
            os.write(server.endings, b"\n")

    def close(self) -> None:
        for server in self.servers:
            os.close(server.orders)
            os.close(server.endings)


@contextmanager
def living(python: Path, limits: Limits, pipes: Pipes, holders: Sequence[int]) -> Iterator[Living]:
    """Yield a harness on the processes ``holders``, which reply through ``pipes``.

    After one of the processes has ended, no more results come.
    """
    over, say_over = os.pipe()
    handles = [os.pidfd_open(process) for process in holders]
    ending = select.poll()
    for one in (*handles, over):
        ending.register(one, select.POLLIN | select.POLLHUP)

    def watch() -> None:
        if over not in {number for number, _ in ending.poll()}:
            pipes.give_up()

    watching = Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield Living(python, pipes.scratch, limits, queue_of(pipes.servers))
    finally:
        os.close(say_over)
        watching.join()
        for one in (*handles, over):
            os.close(one)
