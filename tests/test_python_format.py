"""Tests of lines that a fix makes too long. They are formatted like ruff's if the project configures ruff."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from symfix.codemods.engine.registry import Registry, load_language
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile

BEFORE = b"""import torch
from torch import Tensor


def vector_case(input: Tensor, other: Tensor) -> bool:
    crooked  =  input.ndim - 1
    same = crooked == other.ndim and other.shape == input.shape[:-1]
    if other.shape == input.shape[:-1]:
        odd  =  same
        return odd
    return same
"""
GUARDED = b"guard_or_false(torch.fx.experimental.symbolic_shapes.sym_eq(other.shape, input.shape[:-1]))"
AFTER = BEFORE.replace(b"other.shape == input.shape[:-1]", GUARDED)


@pytest.fixture(scope="module")
def context() -> Context:
    pytest.importorskip("torch")
    return TorchSurroundings().context()


def polished(path: Path, before: bytes, after: bytes, context: Context) -> bytes:
    wing = Registry().wing(path)
    assert wing is not None
    return load_language(wing.package).polish(SourceFile(path, before), after, context)


@pytest.mark.parametrize(
    ("name", "text"), [("pyproject.toml", "[tool.ruff]\nline-length = 88\n"), ("ruff.toml", ""), (".ruff.toml", "")]
)
def test_the_long_line_and_no_other_is_laid_out(name: str, text: str, tmp_path: Path, context: Context) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "torch").mkdir()
    after = polished(tmp_path / "torch" / "f.py", BEFORE, AFTER, context)
    assert after != AFTER and max(map(len, after.splitlines())) <= 88
    assert b"    crooked  =  input.ndim - 1\n" in after and b"        odd  =  same\n" in after
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(AFTER))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.black]\n"),
        ("pyproject.toml", "[tool.ruff]\nline-length = 140\n"),
        ("pyproject.toml", "tool = 1\n"),
        ("ruff.toml", "line-length = \n"),
        ("setup.cfg", ""),
    ],
)
def test_elsewhere_the_text_stays_as_it_was_written(name: str, text: str, tmp_path: Path, context: Context) -> None:
    (tmp_path / name).write_text(text)
    assert polished(tmp_path / "f.py", BEFORE, AFTER, context) == AFTER


def test_a_line_that_was_as_long_before_stays(tmp_path: Path, context: Context) -> None:
    (tmp_path / "ruff.toml").write_text("")
    changed = AFTER.replace(b"guard_or_false", b"guard_or_true")
    assert polished(tmp_path / "f.py", AFTER, changed, context) == changed


def test_line_ends_stay_what_they_are(tmp_path: Path, context: Context) -> None:
    (tmp_path / "ruff.toml").write_text("")
    before, after = (text.replace(b"\n", b"\r\n") for text in (BEFORE, AFTER))
    found = polished(tmp_path / "f.py", before, after, context)
    assert found != after and found.count(b"\n") == found.count(b"\r\n")
