"""Other machines as an executor of `concurrent.futures`: the workers of a dask cluster, at ``dask://HOST:PORT``."""

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
    """There is no cluster at an address, or nothing to speak to one with; ``str()`` says the way out."""


class UnlikeWorker(Exception):
    """A worker has another torch or another symfix, and could answer otherwise."""


class WorkerLost(Exception):
    """The workers that a task was given to died, one after the other."""


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """The workers at an address for the length of the block; raises NoCluster.

    A task whose worker dies is given to another one by the scheduler; when it has taken more workers with it than the
    scheduler allows, its future raises WorkerLost, and the others go on.
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
            # One that died may be starting again.
            client.wait_for_workers(1, timeout=_SECONDS_TO_CONNECT)
        except TimeoutError:
            where = address.removeprefix(SCHEME)
            raise NoCluster(f"--executor {address}: it has no workers; start some: dask worker {where}") from None
        yield _Workers(client.get_executor(pure=False))


class _Workers(Executor):
    """An executor that says WorkerLost where dask says so in its own words."""

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
    told: Callable[[list[Any], list[Result]], None],
) -> None:
    """Give each of the ``parts`` to a worker; ``told`` hears its items and their results, as they come.

    The scheduler suspects all that a dying worker held. What it gave up is asked again item by item, one after the
    other, so that nothing dies of its neighbour; an item whose workers die then too has the result ``lost``.
    """
    from concurrent.futures import as_completed

    suspects: list[Any] = []
    pending = {executor.submit(task, part, *words): part for part in parts}
    for future in as_completed(pending):
        try:
            told(pending[future], future.result())
        except WorkerLost:
            suspects += pending[future]
    for item in suspects:
        try:
            told([item], executor.submit(task, [item], *words).result())
        except WorkerLost:
            told([item], [lost(item)])
