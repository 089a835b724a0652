"""``--executor``: the workers of a cluster for the length of a command."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

import click

from ..system.cluster import NoCluster, UnlikeWorker, cluster
from .torch_tree import say_untried


@contextmanager
def workers(address: str | None, torch_python: Path | None = None) -> Iterator[Executor | None]:
    """Yield an executor for the workers at ``address``, or None without an address. An untried torch is named.

    Raises ClickException if no worker is reachable or a worker differs in torch or symfix, UsageError with
    ``torch_python``.
    """
    if address is None:
        say_untried(torch_python)
        yield None
        return
    if torch_python is not None:
        raise click.UsageError("--executor goes by the torch that is installed here and on the workers")
    try:
        with cluster(address) as executor:
            yield executor
    except (NoCluster, UnlikeWorker) as error:
        raise click.ClickException(str(error)) from None
