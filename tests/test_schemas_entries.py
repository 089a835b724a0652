"""Tests of the text of schema yamls: entries, lines and their positions."""

from __future__ import annotations

import pytest
from symfix.codemods.model.edit import apply
from symfix.schemas.syntax.entries import EntryError, Line, read_entries

TEXT = b"""# Head

- func: f.out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)  # not this
  variants: function

# in between
- name: g(Tensor self, int n) -> Tensor
  # a comment
  dispatch:
    Default:
      self: "first(grad,
                   n)"
    AutogradCPU:
      self: second(grad, n)
  precomputed:
  - n -> int n
  output_differentiability: [True]
"""


def shown(line: Line) -> object:
    return line.value.text if not line.inner else {one.key.text: shown(one) for one in line.inner}


def test_lines_are_read_with_their_places() -> None:
    entries = read_entries(TEXT.replace(b"  # not this", b""), "f.yaml")
    assert list(entries) == ["f.out", "g"]
    assert entries["g"].line == 7
    assert [line.key.text for line in entries["g"].fields] == ["dispatch", "precomputed", "output_differentiability"]
    table = entries["g"].dispatch
    assert [line.key.text for line in table] == ["Default", "AutogradCPU"]
    (formula,) = table[0].inner
    content = TEXT.replace(b"  # not this", b"")
    said = content[formula.value.start : formula.value.end]
    assert said.split() == [b'"first(grad,', b'n)"']
    assert shown(table[1]) == {"self": "second(grad, n)"}
    assert entries["g"].value("output_differentiability") == "[True]"
    assert entries["g"].field("nothing") is None


def test_an_argument_is_widened_where_it_stands_and_nothing_else_moves() -> None:
    content = TEXT.replace(b"  # not this", b"")
    edits = [edit for entry in read_entries(content, "f.yaml").values() for edit in entry.widened(("n", "self"))]
    assert apply(content, edits) == content.replace(b"int n=1", b"SymInt n=1").replace(b"int n) ->", b"SymInt n) ->")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"  variants: function\n", b"variants\n", "f.yaml:4: not a line 'key: value' of an entry"),
        (b"- name: g(", b"- name: f.out(", "f.yaml:7: f.out is defined twice, first in line 3"),
        (b"(Tensor self, int n) -> Tensor", b"(Tensor self", "f.yaml:7: the parenthesis"),
    ],
)
def test_what_can_not_be_read_is_said_with_the_line(old: bytes, new: bytes, words: str) -> None:
    content = TEXT.replace(b"  # not this", b"")
    assert old in content
    with pytest.raises(EntryError) as raised:
        read_entries(content.replace(old, new), "f.yaml")
    assert str(raised.value).startswith(words)
