"""Tests of complete sessions at a terminal: check, diff, fix -i, fix --verify and repair, and Ctrl-C in each."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import tmux
from projects import project, say, torchlike
from symfix.codemods.torchapi.torch_finder import locate

pytestmark = pytest.mark.skipif(bool(tmux.missing()), reason=tmux.missing())
SAID = "symfix: interrupted; "


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "repo", torchlike())


@pytest.fixture
def screen(folder: Path, tmp_path: Path) -> Iterator[tmux.Screen]:
    (tmp_path / "tmp").mkdir()
    with tmux.Screen(folder, tmp_path / "tmp") as found:
        yield found


@pytest.fixture
def cold(folder: Path, tmp_path: Path) -> Iterator[tmux.Screen]:
    """Yield a screen with an empty cache."""
    (tmp_path / "tmp").mkdir()
    with tmux.Screen(folder, tmp_path / "tmp", XDG_CACHE_HOME=str(tmp_path / "cache")) as found:
        yield found


def interrupted(screen: tmux.Screen) -> str:
    """Press Ctrl-C and return the resulting screen."""
    screen.press("C-c")
    seen = screen.end()
    assert seen.count(SAID) == 1, seen
    assert "ended with 2" in seen
    assert "Traceback" not in seen
    # It is the last line of the command, and it is not overwritten.
    assert seen.partition(SAID)[2].partition("\n")[2].startswith("ended with 2"), seen
    until = time.monotonic() + tmux.SECONDS
    while (left := screen.running()) and time.monotonic() < until:
        time.sleep(0.05)
    assert left == []
    return seen


def test_check_diff_and_fix_to_the_end(screen: tmux.Screen, folder: Path) -> None:
    screen.begin("symfix check torch/nn")
    seen = screen.end()
    assert "torch/nn/checked0.py:5:5: migrate_check_is_size safe: " in seen
    assert "\n  5 -     torch._check_is_size(x.shape[0])\n    |     ^^^" in seen
    assert "3 files, 3 would change: 3 fixes\nended with 1" in seen
    screen.begin("symfix diff torch/nn/checked0.py")
    assert "+    torch._check(x.shape[0] >= 0)" in screen.end()
    screen.begin("symfix fix -i torch/nn")
    screen.wait_for("(1/3) Take this fix")
    screen.type("y")
    screen.wait_for("(2/3) Take this fix")
    screen.type("n")
    screen.wait_for("(3/3) Take this fix")
    screen.type("q")
    assert "ended with 1" in screen.end()
    assert say(folder, "status", "--porcelain") == "M torch/nn/checked0.py"
    screen.begin("symfix check torch/nn/checked0.py")
    assert "all clear: 1 file, nothing to change\nended with 0" in screen.end()


def test_fix_verify_to_the_end(screen: tmux.Screen) -> None:
    screen.begin("symfix fix --verify --test 'sleep 3' torch/nn/checked0.py")
    screen.wait_for("running before and after: sleep 3")
    seen = screen.end()
    assert "unverifiable: " in seen or "neutral: " in seen
    assert "before and after: sleep" not in seen


def test_repair_to_the_end(screen: tmux.Screen) -> None:
    screen.begin("symfix repair abs")
    assert "proven fixed: 0 of 0 failing operators" in screen.end()


@pytest.mark.parametrize("command", ["check", "diff"])
def test_ctrl_c_while_files_are_examined(cold: tmux.Screen, command: str) -> None:
    cold.begin(f"symfix {command} {locate(None, None).package}")
    cold.wait_for(" files ")
    interrupted(cold)


def test_ctrl_c_at_a_question(screen: tmux.Screen, folder: Path) -> None:
    screen.begin("symfix fix -i torch/nn")
    screen.wait_for("(1/3) Take this fix")
    screen.type("y")
    screen.wait_for("(2/3) Take this fix")
    interrupted(screen)
    assert say(folder, "status", "--porcelain") == ""


def test_ctrl_c_while_a_fix_is_verified(screen: tmux.Screen, folder: Path) -> None:
    screen.begin("symfix fix --verify --test 'sleep 1000' torch/nn/checked0.py")
    screen.wait_for("running before and after: sleep 1000")
    assert "every file is either as it was or whole" in interrupted(screen)
    assert say(folder, "status", "--porcelain") == ""


@pytest.mark.parametrize("command", ["symfix repair fft", "symfix hunt fft"])
def test_ctrl_c_while_operators_are_run(cold: tmux.Screen, command: str) -> None:
    cold.begin(command)
    cold.wait_for("━")
    assert any("symfix" in words for words in cold.running())
    interrupted(cold)


def test_ctrl_c_while_a_series_is_built(cold: tmux.Screen) -> None:
    cold.begin("symfix series plan torch")
    assert "ended with 0" in cold.end()
    cold.begin("symfix series build")
    cold.wait_for(" of 3: ")
    assert "the same command goes on where this one was" in interrupted(cold)
