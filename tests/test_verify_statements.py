"""Tests of the statements that a change of a Python file touches, and of those that a process reports as started."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from symfix.codemods.harness.children.overlay.line_coverage import Recorder
from symfix.codemods.verify.change import Change
from symfix.codemods.verify.compare.statements import touched

BEFORE = '''\
import os


def f(x, *, strict=False):
    """What it does."""
    # why
    if x < 0:
        raise ValueError(
            "negative", x)
    try:
        y = g(x)
    except KeyError:
        y = 0
    else:
        y += 1
    check(y > 0, lambda:
          "y")
    return y


def g(x):
    return x


def check(good, say):
    if not good:
        raise ValueError(say())
'''


@pytest.mark.parametrize(
    ("old", "new", "line", "telling"),
    [
        ("y = 0", "y = 1", 13, [(13,)]),
        ("if x < 0:", "if 0 > x:", 7, [(7, 8, 9)]),
        ('"negative", x)', '"below", x)', 9, [(8, 9)]),
        ('"y")', '"z")', 17, [(16, 17)]),
        ("except KeyError:", "except IndexError:", 12, [(12, 13)]),
        ("strict=False", "strict=True", 4, [(7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18)]),
        ("import os", "import io", 1, [(1,)]),
        ("What it does", "What", 5, []),
        ("# why", "# what", 6, []),
        ("        y += 1\n", "        y += 1\n\n", 16, []),
        ("    if not good:\n", "    good = bool(good)\n    if not good:\n", 26, [(26,)]),
        ("        y += 1\n", "        pass\n", 15, [(15,)]),
    ],
)
def test_a_changed_line_is_told_by_its_statement(old: str, new: str, line: int, telling: list[tuple[int, ...]]) -> None:
    change = Change(Path("a.py"), BEFORE.encode(), BEFORE.replace(old, new).encode())
    assert touched(change) == tuple((line, lines) for lines in telling)


def test_where_lines_are_gone_the_code_around_them_counts() -> None:
    lost = Change(
        Path("a.py"), BEFORE.replace("        y = 0\n", "        y = 0\n        say()\n").encode(), BEFORE.encode()
    )
    assert touched(lost) == ((14, (10, 11, 12, 13, 15)), (14, (13,)), (14, (15,)))


SCRIPTED = """\
import torch


def f(n: int):
    if torch.jit.is_scripting():
        if n < 0:
            raise ValueError("{word}")
    else:
        check(n)


def check(n):
    torch._check_value(n >= 0, lambda: "bad")
"""


@pytest.mark.parametrize(("word", "kept"), [("bad", True), ("worse", False)])
def test_what_only_torchscript_compiles_counts_when_it_is_new(word: str, kept: bool) -> None:
    before = 'import torch\n\n\ndef f(n: int):\n    if n < 0:\n        raise ValueError("bad")\n'
    after = SCRIPTED.format(word=word)
    lines = {line for line, _ in touched(Change(Path("a.py"), before.encode(), after.encode()))}
    assert ({6, 7} & lines == set()) is kept
    assert {5, 9, 12, 13} <= lines


def test_what_python_cannot_read_touches_nothing() -> None:
    assert touched(Change(Path("a.py"), b"a = 1\n", b"a = (\n")) == ()


RUN = """
def f(x):
    y = x + 1
    if x.dim() > 7:
        y = -y
    return y * 2
"""


def recorded(*wanted: list[int]) -> tuple[Recorder, Any]:
    recorder = Recorder({"run": wanted})
    recorder.watch("run", "/run.py")
    space: dict[str, Any] = {}
    exec(compile(RUN, "/run.py", "exec"), space)
    return recorder, space["f"]


def test_what_was_started_is_told_and_then_nothing_is_traced() -> None:
    before = sys.gettrace()
    recorder, f = recorded([3], [5], [6, 7])
    with recorder.recording():
        f(torch.ones(2))
        assert recorder.ran == {"run": [0, 2]}
        other = threading.Thread(target=f, args=(torch.ones([1] * 8),))
        other.start()
        other.join()
        assert recorder.ran == {"run": [0, 1, 2]}
    assert sys.gettrace() == before
    with recorder.recording():
        assert sys.gettrace() == before


def test_tracing_adds_nothing_to_what_dynamo_compiles() -> None:
    def frames(recorder: Recorder, f: Any) -> int:
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        with recorder.recording():
            for count in (2, 3, 4):
                torch.compile(lambda x: f(x).tolist() and f(x), backend="eager", dynamic=True)(torch.ones(count))
        return int(torch._dynamo.utils.counters["frames"]["total"])

    traced = recorded([5])
    assert frames(*traced) == frames(*recorded()) > 0
    assert traced[0].ran == {"run": []}
