"""Tests of the progress display: one changing row on a terminal, otherwise a line a minute."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from symfix.codemods.commands import progress
from symfix.codemods.commands.progress import Progress
from symfix.codemods.harness import resilient_batch
from terminal import run_on_a_terminal, without_colour

SECONDS = 30.0


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_without_a_terminal_a_line_comes_at_each_interval_and_says_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.05)
    said = ""
    with Progress() as told:
        told.say("trying")
        for done in range(1000):
            told(done, 1234)
        while said.count("\n") < 2:
            said += capsys.readouterr().err
            time.sleep(0.01)
    assert set(said.splitlines()) == {"symfix: 0 min: 999 of 1,234: trying"}


def test_nothing_is_printed_before_a_minute_nor_afterwards_nor_when_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Progress() as told:
        told.say("trying")
        told(1, 2)
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.01)
    with Progress(quiet=True) as told:
        told.say("trying")
        time.sleep(0.1)
    assert capsys.readouterr().err == ""


def test_a_line_counts_what_it_says_and_no_more() -> None:
    told = Progress()
    told.say("hunting")
    told(3, 5)
    assert told.line() == "0 min: 3 of 5: hunting"
    told.say("proving")
    assert told.line() == "0 min: proving"


ROW = """
import time
from symfix.codemods.commands import progress
progress.PATIENCE_SECONDS = 0.0
with progress.Progress() as told:
    told.say("proving [bold]1[/bold] of 2: a very long name " + "x" * 300)
    time.sleep(0.5)
    told(7, 12)
    time.sleep(0.5)
print("end")
"""


def test_on_a_terminal_one_row_has_all_and_goes(tmp_path: Path) -> None:
    code, seen = run_on_a_terminal([sys.executable, "-c", ROW], cwd=tmp_path)
    assert code == 0
    plain = without_colour(seen)
    assert "7 of 12" in plain
    assert "proving [bold]1[/bold] of 2" in plain
    assert "0:00:0" in plain
    assert "…" in plain
    # The last row contains only the printed text, because the progress row was erased.
    assert seen.rstrip("\n").rpartition("\x1b[2K")[2].strip().endswith("end")


LATE = """
import threading
from symfix.codemods.commands import progress
progress.PATIENCE_SECONDS = 0.0
made, ended = threading.Event(), threading.Event()
bar_of = progress._bar
def late():
    made.set()
    ended.wait()
    return bar_of()
progress._bar = late
with progress.Progress():
    made.wait()
ended.set()
[one.join() for one in threading.enumerate() if one.name == "progress"]
print("end")
"""


def test_a_row_that_is_made_too_late_is_not_shown(tmp_path: Path) -> None:
    _, seen = run_on_a_terminal([sys.executable, "-c", LATE], cwd=tmp_path)
    assert seen.strip() == "end"


def test_answers_are_counted_while_a_child_writes_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resilient_batch, "_WATCH_SECONDS", 0.01)
    counts: list[int] = []
    report = tmp_path / "report"
    with resilient_batch.watched(counts.append, b'"task"') as opened:
        opened(report)  # not there yet
        for number in range(1, 4):
            with report.open("a") as file:
                file.write(json.dumps({"start": ["op", "eager"]}) + "\n" + json.dumps({"task": ["op", "eager"]}) + "\n")
            until(lambda number=number: number in counts)  # type: ignore[misc]
    assert counts == sorted(set(counts)) and max(counts) == 3
    with resilient_batch.watched(None, b'"task"') as opened:
        opened(Path(os.devnull))
