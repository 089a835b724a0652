"""Tests of the pytest plugin: a marked call is traced, and the failure is in the words of ``symfix explain``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from symfix.codemods.system.toml import loads

TOP = Path(__file__).parents[1]
MODELS = """
import torch

class Pooled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x, scale=1.0):
        return self.linear(x).sum(0) * scale

def halves(x):
    return x[: x.shape[0] // 2]

def noisy(x):
    return x + torch.rand(x.shape[0], 1)

def emptied(x):
    if x.shape[0] == 0:
        return x.new_zeros(3)
    return x.sum(0)

def chosen(x):
    return x + 1 if x.sum() > 0 else x - 1

def pinned(x):
    return x.reshape(5, -1)
"""
TESTS = """
import pytest, torch, models

@pytest.mark.traces("models:Pooled", "models:halves", dynamic={"x": {0: "rows"}})
def test_both():
    assert models.Pooled()(torch.ones(5, 4), scale=2.0).shape == (2,)
    assert models.halves(torch.ones(6, 4)).shape == (3, 4)

drawn = []

@pytest.mark.traces(models.noisy, dynamic={"x": [0]}, ways=["compile"])
def test_noisy():
    torch.manual_seed(5)
    drawn.append(models.noisy(torch.zeros(3, 1)).sum())
    drawn.append(torch.get_rng_state())

def test_after_noisy():
    assert torch.equal(torch.get_rng_state(), drawn[1])

@pytest.mark.traces(models.emptied, dynamic={"x": [0]})
def test_emptied():
    models.emptied(torch.ones(5, 3))

@pytest.mark.traces(models.emptied, dynamic={"x": [0]}, ways=["export", "compile"])
def test_emptied_with_hints():
    models.emptied(torch.ones(5, 3))

@pytest.mark.traces("models:chosen", dynamic={"x": [0]})
def test_chosen():
    models.chosen(torch.ones(5, 3))

@pytest.mark.traces("models:pinned", dynamic={"x": [0]}, ways=["compile"])
def test_pinned():
    models.pinned(torch.ones(5, 3))

@pytest.mark.traces("models:chosen", dynamic={"x": [0]})
def test_no_call():
    pass

@pytest.mark.traces("models:chosen", dynamic={"y": [0]})
def test_no_such_parameter():
    models.chosen(torch.ones(5, 3))

@pytest.mark.traces("models:missing", dynamic={"x": [0]})
def test_no_such_function():
    pass

@pytest.mark.traces("models:chosen")
def test_no_dimension():
    pass

@pytest.mark.traces("models:chosen", dynamic={"x": [0]})
def test_wrong():
    assert models.chosen(torch.ones(5, 3)).sum() == 0
"""


def _run(folder: Path, *options: str) -> str:
    (folder / "models.py").write_text(MODELS)
    (folder / "test_models.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    command = [sys.executable, "-m", "pytest", "-p", "symfix.codemods.pytest_plugin", "-q", *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the failure of each test, with ``""`` for its summary."""
    said, _, summary = _run(tmp_path_factory.mktemp("traced"), "--symfix-traces", "-rA").partition("short test summary")
    parts = re.split(r"^_+ (\w+) _+$", said, flags=re.MULTILINE)
    return {**dict(zip(parts[1::2], parts[2::2], strict=True)), "": summary}


def test_a_marked_call_that_traces_passes(report: dict[str, str]) -> None:
    assert "PASSED test_models.py::test_both" in report[""]
    assert "PASSED test_models.py::test_noisy" in report[""]
    assert "PASSED test_models.py::test_after_noisy" in report[""], "the numbers that later tests draw are the same"
    assert "PASSED test_models.py::test_emptied_with_hints" in report[""]


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("test_emptied", "models:emptied does not trace (unbacked)"),
        ("test_emptied", "if x.shape[0] == 0:"),
        ("test_chosen", "models:chosen does not trace (export)"),
        ("test_pinned", "models:pinned does not trace (compile)"),
        ("test_no_call", "traces: the test makes no call of models:chosen that can be traced"),
        ("test_no_such_parameter", "traces: the call has no tensor 'y'; its arguments are x"),
        ("test_no_such_function", "traces: module 'models' has no attribute 'missing'"),
        ("test_no_dimension", "traces: the mark names what is traced, and its dynamic dimensions"),
        ("test_wrong", "assert"),
    ],
)
def test_a_marked_call_that_does_not_trace_fails_with_the_reason(test: str, said: str, report: dict[str, str]) -> None:
    assert said in report[test]
    assert not re.search("Traceback|Captured|During handling", report[test])


def test_nothing_is_traced_without_the_option(tmp_path: Path) -> None:
    said = _run(tmp_path)
    assert "1 failed, 11 passed" in said


def test_pytest_finds_the_plugin_of_an_installed_symfix() -> None:
    named = loads((TOP / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]["symfix"]
    assert hasattr(import_module(named), "pytest_runtest_call")
