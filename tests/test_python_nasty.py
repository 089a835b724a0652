"""Tests of functions that careless rewrites break. A safe fix changes no result of their callers' calls."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from concrete import beyond_script, differences, fixed, outcome
from symfix.codemods.model.outcome import Changed, Refused

TEXT = beyond_script((Path(__file__).parent / "data" / "nasty.py").read_text(encoding="utf-8"))
NAMESPACE: dict[str, Any] = {"__name__": "nasty"}
exec(compile(TEXT, "nasty.py", "exec"), NAMESPACE)
CALLS: dict[str, list[tuple[Any, ...]]] = NAMESPACE["CALLS"]


@pytest.fixture(scope="module")
def after() -> str:
    return fixed(TEXT)


def test_the_safe_fixes_are_more_than_a_few(after: str) -> None:
    assert after.count("torch._check_value(") >= 3
    assert after.count("torch.sym_") > 0


@pytest.mark.parametrize("name", CALLS)
def test_a_safe_fix_changes_nothing(name: str, after: str) -> None:
    calls = [lambda one=one: copy.deepcopy(one) for one in CALLS[name]]
    assert differences(TEXT, after, calls, name) == []


def test_every_function_is_called() -> None:
    defined = {
        name for name, value in NAMESPACE.items() if callable(value) and getattr(value, "__module__", "") == "nasty"
    }
    assert {name for name in defined if name.islower()} == set(CALLS)


@pytest.mark.parametrize(
    ("cookie", "said", "kept"),
    [("latin-1", "größe", False), ("cp1252", "größe", False), ("utf-8", "größe", True), ("latin-1", "size", True)],
)
def test_a_text_in_another_encoding_is_refused(cookie: str, said: str, kept: bool) -> None:
    text = (
        f"# -*- coding: {cookie} -*-\nimport torch\nfrom torch import Tensor\n\n\ndef f(x: Tensor, y: Tensor, n=1):\n"
        f"    a = '{said}'; return min(x.size(0), y.size(0)), a\n"
    )
    found = outcome(text)
    assert isinstance(found, Changed) if kept else isinstance(found, Refused) and found.reason == "encoding"
