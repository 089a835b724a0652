"""Tests of lines that dynamo compiles. No trace function sees them, so dynamo reports them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from symfix.codemods.harness.children.overlay.line_coverage import Recorder

MODULE = """import torch


def wrapper(op, *args):
    if torch.compiler.is_compiling():
        return op(*args)
    raise NotImplementedError


def untouched(x):
    return x
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    (tmp_path / "compiled_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("compiled_module")
    del sys.modules["compiled_module"]


def test_what_is_only_compiled_counts_as_run(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._guards import TracingContext

    monkeypatch.setattr(TracingContext, "set_current_loc", TracingContext.set_current_loc)
    recorder = Recorder({"compiled_module": [[5], [6], [7], [11]]})
    recorder.watch("compiled_module", module.__file__)
    with recorder.recording():
        compiled = torch.compile(lambda x: module.wrapper(torch.sin, x), backend="eager", fullgraph=True)
        assert torch.equal(compiled(torch.ones(3)), torch.sin(torch.ones(3)))
    assert recorder.ran == {"compiled_module": [0, 1]}


def test_nothing_is_followed_where_no_line_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._guards import TracingContext

    tell = TracingContext.set_current_loc
    with Recorder({}).recording():
        assert TracingContext.set_current_loc is tell
