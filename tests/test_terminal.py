"""Tests of the output on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import SHAPES
from terminal import on_a_terminal, without_colour


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.py").write_text(SHAPES)
    return tmp_path


FRAME = """\
m.py:5:5: migrate_check_is_size safe: `torch._check_is_size` is deprecated
  5 -     torch._check_is_size(x.shape[0])
    |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  5 +     torch._check(x.shape[0] >= 0)
"""


def test_a_finding_has_its_frame_in_colour(folder: Path) -> None:
    code, seen = on_a_terminal("check", "m.py", cwd=folder)
    assert (code, without_colour(seen).startswith(FRAME)) == (1, True), seen
    assert "\x1b[32m  5 +     torch._check(x.shape[0] >= 0)\x1b[0m" in seen


@pytest.mark.parametrize("words", [["check", "m.py"], ["fix", "--allow-dirty", "-i", "m.py"]])
def test_no_colour_where_nobody_wants_it(folder: Path, words: list[str]) -> None:
    _, plain = on_a_terminal(*words, cwd=folder, typed="q\n", NO_COLOR="1")
    assert "torch._check(x.shape[0] >= 0)" in plain
    assert "\x1b[" not in plain
    assert "\x1b[" in on_a_terminal(*words, cwd=folder, typed="q\n")[1]
