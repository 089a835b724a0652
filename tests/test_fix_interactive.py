"""Tests of ``fix -i``, with the keys of ``git add -p`` and one question for each fix."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest
from running import symfix

ONE = "import torch\n\n\ndef f0(x: torch.Tensor):\n    torch._check_is_size(x.shape[0])\n    return x\n"


def function(number: int) -> str:
    return f"\n\ndef f{number}(x: torch.Tensor):\n    torch._check_is_size(x.shape[{number}])\n    return x\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write two files: ``a.py`` with fixes 0, 1 and 2, and ``b.py`` with fix 0."""
    (tmp_path / "a.py").write_text(ONE + function(1) + function(2))
    (tmp_path / "b.py").write_text(ONE)
    return tmp_path


def taken(folder: Path) -> str:
    """Return the numbers of the dimensions whose check was changed, file by file."""
    return " ".join(
        "".join(re.findall(r"_check\(x\.shape\[(\d)\] >= 0\)", (folder / name).read_text()))
        for name in ("a.py", "b.py")
    )


@pytest.mark.parametrize(
    ("answers", "after"),
    [
        ("yyyy", "012 0"),
        ("nnnn", " "),
        ("ynyn", "02 "),
        ("ay", "012 0"),
        ("nay", "12 0"),
        ("dy", " 0"),
        ("ydn", "0 "),
        ("yq", "0 "),
        ("jyynn", "12 "),
        ("JJyq", "2 "),
        ("yKnq", " "),
        ("yjkyyq", "012 "),
        (["g 4", "y", "q"], " 0"),
        (["g", "3", "y", "q"], "2 "),
        (["/ shape\\[1\\]", "y", "q"], "1 "),
        (["/", "b\\.py", "y", "q"], " 0"),
        (["g 9", "/ nowhere", "/ (", "k", "?", "x", "p", "y", "q"], "0 "),
    ],
)
def test_the_keys_take_and_leave(folder: Path, answers: str | list[str], after: str) -> None:
    text = "".join(f"{answer}\n" for answer in answers)
    left = after.replace(" ", "") != "0120"
    ended = symfix("fix", "--allow-dirty", "-i", ".", cwd=folder, code=int(left), text=text)
    assert taken(folder) == after
    assert "(1/4) Take this fix [y,n,q,a,d,j,J,k,K,g,/,v,p,?]? " in ended.stderr


def test_a_question_says_what_one_must_know(folder: Path) -> None:
    said = symfix("fix", "--allow-dirty", "-i", "b.py", cwd=folder, code=0, text="?\np\ny\n").stderr
    assert "b.py:5:5: migrate_check_is_size in f0\n  mode 2, safe: " in said
    assert said.count("-    torch._check_is_size(x.shape[0])\n+    torch._check(x.shape[0] >= 0)\n") == 2
    assert "q - quit; leave this fix and all that are undecided\n" in said


def test_a_default_is_named(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    path = tmp_path / "torch" / "_m.py"
    path.write_text(
        "import torch\n\n\ndef f(x: torch.Tensor):\n    if x.numel() == 0:\n        return x\n    return x + 1\n"
    )
    said = symfix("fix", "--allow-dirty", "-i", "--unsafe-fixes", "torch", cwd=tmp_path, code=1, text="n\n").stderr
    assert ", unsafe: " in said and "  what changes: " in said
    assert "guard_or" not in path.read_text()


def test_answers_that_end_early_write_nothing(folder: Path) -> None:
    symfix("fix", "--allow-dirty", "-i", ".", cwd=folder, code=2, text="y\ny\n")
    assert taken(folder) == " "


def test_a_verdict_is_there_when_asked_for(folder: Path) -> None:
    ended = symfix("fix", "--allow-dirty", "-i", "b.py", cwd=folder, code=0, text="v\np\ny\n")
    assert ended.stderr.count("  verified alone: unverifiable: ") == 2


def test_in_a_terminal_it_asks_in_colour(folder: Path) -> None:
    mother, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    words = [sys.executable, "-m", "symfix.codemods.cli", "fix", "--allow-dirty", "-i", "."]
    process = subprocess.Popen(words, cwd=folder, stdin=child, stdout=child, stderr=child, env=environment)
    os.close(child)
    said = b""

    def until(text: bytes) -> None:
        nonlocal said
        while text not in said:
            assert select.select([mother], [], [], 120)[0], said
            said += os.read(mother, 4096)
        said = said.partition(text)[2]

    for number, key in enumerate((b"y\n", b"n\n", b"j\n", b"y\n"), 1):
        until(b"\x1b[32m+    torch._check(x.shape[")
        until(b"(%d/4) Take this fix" % number)
        os.write(mother, key)
    until(b"(3/4) Take this fix")
    os.write(mother, b"q\n")
    assert process.wait() == 1
    os.close(mother)
    assert taken(folder) == "0 0"
