"""Changes of concrete behavior by a promotion, as the message of an unsafe fix."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...codemods.model.edit import Edit
from ..syntax.tree import Tree, arguments
from ..syntax.types import is_wide

_SPELLS_CONDITION = re.compile(r"TORCH_INTERNAL_ASSERT\w*|AT_ASSERT\w*|assert|(?:TORCH_)?D?CHECK_(?:EQ|NE|LT|LE|GT|GE)")
_WITHOUT_MESSAGE = re.compile(r"TORCH_CHECK(?:_[A-Z]+)*")
_EITHER = re.compile(rb"CHECK|ASSERT|assert")


def changes(edits: Sequence[Edit], tree: Tree) -> str | None:
    """Return the possible differences on plain integer sizes, or None if there are none."""
    words = [*_kept_whole(edits, tree), *_spelled_otherwise(edits, tree)]
    return "; ".join(dict.fromkeys(words)) or None


def _kept_whole(edits: Sequence[Edit], tree: Tree) -> list[str]:
    """Return a sentence for each SymInt in place of a narrower integer."""
    replaced = [tree.content[edit.start : edit.end].decode() for edit in edits if edit.text == b"c10::SymInt"]
    narrow = (text for text in replaced if text and not is_wide(text))
    return [f"a size of 2**31 or more, which `{text}` cut off, is kept whole" for text in narrow]


def _spelled_otherwise(edits: Sequence[Edit], tree: Tree) -> list[str]:
    """Return a sentence for each macro whose message contains the text of its changed condition."""
    words: list[str] = []
    if not _EITHER.search(tree.content):
        return words
    for edit in edits:
        call = tree.root.descendant_for_byte_range(edit.start, edit.end)
        while call is not None and (call := call.parent) is not None:
            function = call.child_by_field_name("function") if call.type == "call_expression" else None
            name = "" if function is None else tree.text(function)
            bare = _WITHOUT_MESSAGE.fullmatch(name) and len(arguments(call)) == 1
            if bare or (_SPELLS_CONDITION.fullmatch(name) and edit.start < arguments(call)[0].end_byte):
                words.append(f"the message of `{name}` holds its condition, which is spelled otherwise")
    return words
