from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from symfix.codemods.engine.registry import Registry

TESTS = Path(__file__).parent
sys.path += [str(TESTS / "support"), str(TESTS.parent / "scripts")]


@pytest.fixture
def fresh_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def quick_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Extensions that are built find torch's large headers precompiled, where there is a g++."""
    if shutil.which("g++") is None:
        return
    from precompiling import compiler
    from symfix.codemods.engine import storage

    kept = storage.folder("syntax")
    kept.mkdir(parents=True, exist_ok=True)
    for name, value in compiler(tmp_path / "compiler", kept).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def toy() -> Registry:
    """The registry of the toy wing in tests/support."""
    return Registry(("toywing",))
