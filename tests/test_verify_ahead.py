"""Tests of prefetching a torch's data and a compiler while the rules run."""

from __future__ import annotations

from pathlib import Path

import pytest
from symfix.codemods.torchapi import TorchApi
from symfix.codemods.torchapi.errors import TorchMissing
from symfix.codemods.verify import prefetch
from symfix.codemods.verify.build.toolchain import CompilerMissing


def test_both_questions_are_asked_and_what_is_wrong_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def load(root: Path | None, python: Path | None) -> TorchApi:
        asked.append(f"schemas of {python}")
        raise TorchMissing("no torch there")

    def find(place: object) -> object:
        asked.append(f"compilers for {place}")
        raise CompilerMissing("no compiler here")

    monkeypatch.setattr(prefetch.TorchApi, "load", load)
    monkeypatch.setattr(prefetch, "locate", lambda root, python: f"the torch of {python}")
    monkeypatch.setattr(prefetch, "find_toolchain", find)
    thread = prefetch.ask_ahead([Path("a.py"), Path("LossNLL.cpp")], Path("python"))
    assert thread is not None
    thread.join()
    assert asked == ["schemas of python", "compilers for the torch of python"]
    assert prefetch.ask_ahead([Path("a.py"), Path("folder")], None) is None
