"""Progress on stderr: elapsed time, items done, current step."""

from __future__ import annotations

import os
import sys
import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

PATIENCE_SECONDS = 1.0
EVERY_SECONDS = 60.0
"""Interval between lines if stderr is not a terminal. A server sets a shorter one for the commands that it starts."""


class Progress:
    """Progress display. Call it with (done, total), and pass the current step to `say`.

    A terminal shows one updating row, which is removed at the end and hidden during the first second. Other streams
    get one line per minute.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._start = time.monotonic()
        self._now = ""
        self._count: tuple[int, int] | None = None
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._over = threading.Event()
        self._showing = threading.Lock()

    def __enter__(self) -> Progress:
        if not self._quiet:
            watch = self._row if sys.stderr.isatty() else self._lines
            threading.Thread(target=watch, name="progress", daemon=True).start()
        return self

    def __call__(self, done: int, total: int) -> None:
        self._count = done, total
        self._draw()

    def say(self, text: str) -> None:
        """Set the current step and reset the count."""
        self._now, self._count = text, None
        self._draw()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._showing:
            self._over.set()
            if self._bar is not None:
                self._bar.stop()

    def line(self) -> str:
        """Return the progress as a line: ``3 min: 12 of 196: trying``."""
        minutes = (time.monotonic() - self._start) / 60
        count = f"{self._count[0]:,} of {self._count[1]:,}" if self._count else ""
        return ": ".join(filter(None, (f"{minutes:.0f} min", count, self._now)))

    def _lines(self) -> None:
        while not self._over.wait(float(os.environ.get("SYMFIX_PROGRESS_SECONDS", EVERY_SECONDS))):
            print(f"symfix: {self.line()}", file=sys.stderr, flush=True)

    def _row(self) -> None:
        if not self._over.wait(PATIENCE_SECONDS):
            bar = _bar()
            with self._showing:
                if not self._over.is_set():
                    self._task = bar.add_task("", total=None, count="")
                    self._bar = bar
                    bar.start()
                    self._draw()

    def _draw(self) -> None:
        if self._bar is not None and self._task is not None:
            done, total = self._count or (0, None)
            count = f"{done:,} of {total:,}" if total is not None else ""
            self._bar.update(self._task, completed=done, total=total, count=count, description=self._now)


def _bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
    from rich.table import Column
    from rich.text import Text

    class Now(ProgressColumn):
        """Column for the current step, truncated at the terminal's width.

        The text is not parsed as markup, since it may contain names of files and operators.
        """

        def render(self, task: Task) -> Text:
            return Text(task.description, no_wrap=True, overflow="ellipsis")

    return Progress(
        TimeElapsedColumn(),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[count]}"),
        Now(table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
        console=Console(stderr=True),
        transient=True,
        expand=True,
    )
