"""A progress bar on stderr, for a person who waits longer than a second."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

PATIENCE_SECONDS = 1.0


class Progress:
    """Called with (done, total); shows nothing before the work has taken a second, or when stderr is no terminal."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._silent = quiet or not sys.stderr.isatty()
        self._start = time.monotonic()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Progress:
        return self

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            if self._silent or time.monotonic() - self._start < PATIENCE_SECONDS:
                return
            self._bar, self._task = _bar(total)
        assert self._task is not None
        self._bar.update(self._task, completed=done, total=total)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar(total: int) -> tuple[Bar, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    bar = Progress(
        BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=Console(stderr=True), transient=True
    )
    bar.start()
    return bar, bar.add_task("files", total=total)
