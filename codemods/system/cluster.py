"""Workers of a dask cluster at ``dask://HOST:PORT`` as an executor of `concurrent.futures`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
Result = TypeVar("Result")

SCHEME = "dask://"
_SECONDS_TO_CONNECT = 30
_KILLED = ("distributed.scheduler", "KilledWorker")


class NoCluster(Exception):
    """Missing cluster at an address, or missing client library. ``str()`` includes the remedy."""


class UnlikeWorker(Exception):
    """Worker with another torch or symfix, whose results could differ."""


class WorkerLost(Exception):
    """Loss of all workers that a task was given to, one after the other."""


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Yield an executor for the workers at an address. Raises NoCluster.

    The scheduler gives a task whose worker dies to another worker. If a task kills more workers than the scheduler
    allows, its future raises WorkerLost, and the other tasks continue.
    """
    if not address.startswith(SCHEME) or ":" not in address.removeprefix(SCHEME):
        raise NoCluster(f"--executor {address}: an address is {SCHEME}HOST:PORT")
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise NoCluster("--executor needs dask.distributed: install symfix[cluster]") from None
    try:
        client = Client(f"tcp://{address.removeprefix(SCHEME)}", timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise NoCluster(f"--executor {address}: no scheduler answers there ({error})") from None
    with client:
        try:
            # A worker that died may be restarting.
            client.wait_for_workers(1, timeout=_SECONDS_TO_CONNECT)
        except TimeoutError:
            where = address.removeprefix(SCHEME)
            raise NoCluster(f"--executor {address}: it has no workers; start some: dask worker {where}") from None
        yield _Workers(client.get_executor(pure=False))


class _Workers(Executor):
    """Executor that translates dask's KilledWorker to WorkerLost."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, task: Callable[P, Result], /, *args: P.args, **words: P.kwargs) -> Future[Result]:
        told: Future[Result] = Future()
        told.set_running_or_notify_cancel()

        def tell(asked: Future[Result]) -> None:
            error = asked.exception()
            if error is None:
                told.set_result(asked.result())
            else:
                told.set_exception(WorkerLost(str(error)) if _killed(error) else error)

        self._executor.submit(task, *args, **words).add_done_callback(tell)
        return told

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait)


def _killed(error: BaseException) -> bool:
    kind: Any = type(error)
    return (kind.__module__, kind.__name__) == _KILLED


def spread(
    executor: Executor,
    task: Callable[..., list[Result]],
    parts: list[list[Any]],
    *words: Any,
    lost: Callable[[Any], Result],
) -> Iterator[tuple[list[Any], list[Result]]]:
    """Give each of the ``parts`` to a worker, and yield its items with their results as they arrive.

    The scheduler suspects every task of a dying worker. Lost parts are therefore repeated item by item, so that a crash
    fails only its own item. An item whose workers die again gets the result of ``lost``.
    """
    from concurrent.futures import as_completed

    suspects: list[Any] = []
    pending = {executor.submit(task, part, *words): part for part in parts}
    for future in as_completed(pending):
        try:
            yield pending[future], future.result()
        except WorkerLost:
            suspects += pending[future]
    for item in suspects:
        try:
            yield [item], executor.submit(task, [item], *words).result()
        except WorkerLost:
            yield [item], [lost(item)]
