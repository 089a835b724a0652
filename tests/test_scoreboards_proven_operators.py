"""Tests of the facts in a repro's docstring, and of the short description of its run."""

from __future__ import annotations

from pathlib import Path

import pytest
from scoreboards.proven_operators import REPROS, Item, chosen, found_items, item_of, symptom
from symfix.codemods.harness.observation import Observation

REPRO = Path("halve.py")


def test_a_docstring_names_operator_release_file_and_symptom() -> None:
    item = item_of(
        REPRO, '"""torch.halve of rows (PyTorch 2.6.0, Halve.cpp): size(0) pins the rows."""\nimport torch\n'
    )
    assert item == Item(REPRO, "torch.halve", "2.6.0", "Halve.cpp", "size(0) pins the rows.")


@pytest.mark.parametrize("text", ["import torch\n", '"""torch.halve at sizes the compiler must not pin."""\n'])
def test_a_script_about_no_release_is_no_item(text: str) -> None:
    assert item_of(REPRO, text) is None


def test_the_repros_are_of_different_operators_in_many_files() -> None:
    items = found_items(REPROS)
    assert len({item.operator for item in items}) == len(items) >= 20
    assert len({item.file for item in items}) >= 12


def test_items_are_chosen_by_operator_or_script_and_a_stranger_is_said() -> None:
    items = [Item(Path(f"{name}.py"), f"torch.{name}", "2.6.0", f"{name}.cpp", "throws") for name in ("a", "b", "c")]
    assert chosen(items, []) == items
    assert chosen(items, ["torch.c", "a"]) == [items[0], items[2]]
    with pytest.raises(SystemExit, match=r"torch\.d"):
        chosen(items, ["torch.d"])


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("RuntimeError: Cannot call numel() on tensor with symbolic sizes/strides", "numel() throws"),
        ("RecompileError: … - 0/0: tensor 'x' size mismatch at index 1. expected 5, actual 9", "pins size 1 of x"),
        ("RecompileError: … - 0/0: x.size()[1] < x.size()[0]", "recompiles"),
        ("AssertionError: a b c d e f g", "AssertionError: a b c d e"),
        ("", "fails"),
    ],
)  # fmt: skip
def test_a_failure_is_put_in_few_words(message: str, words: str) -> None:
    assert symptom(Observation(passed=False, message=message)) == words


def test_what_passes_passes() -> None:
    assert symptom(Observation(passed=True, message="")) == "passes"
