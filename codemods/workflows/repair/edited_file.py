"""A file under repair: the original text and the accepted fixes, in original coordinates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...model.edit import Edit, apply, conflict
from ...model.rebase import Step
from ...model.rule import Context, Fix, Language
from ...model.source_file import SourceFile

_DEFINED = re.compile(rb"(?m)^def (\w+)\(")


class AppendedTexts:
    """Texts that may be appended to a file. Each has a fixed position there, whether or not it is used.

    So a fix inside such a text keeps its position while other texts are added or dropped.
    """

    def __init__(self, original: bytes) -> None:
        self._original = original
        self._edits: tuple[Edit, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """Return the texts with their positions. For a consistent state, read it once: other threads add texts."""
        return self._edits

    def content(self, edits: Sequence[Edit]) -> bytes:
        """Return the file followed by these texts."""
        return self._original + b"".join(edit.text for edit in edits)

    def add(self, text: bytes) -> Edit:
        """Return the position of a text, which is the same when it is added again."""
        known = next((edit for edit in self._edits if edit.text == text), None)
        if known is None:
            start = self._edits[-1].end if self._edits else len(self._original)
            known = Edit(start, start + len(text), text)
            self._edits = (*self._edits, known)
        return known


@dataclass(frozen=True)
class EditedFile:
    """``source`` with ``taken`` applied. A later fix replaces the overlapping edits of an earlier one.

    Positions of fixes refer to the original followed by all ``additions``. An addition is part of the text if one of
    the fixes contains it.
    """

    source: SourceFile
    language: Language
    context: Context
    taken: tuple[Fix, ...] = ()
    additions: AppendedTexts | None = None

    @cached_property
    def step(self) -> Step:
        """Return the one step from the original, with all additions, to the current text."""
        below = self.additions.edits if self.additions else ()
        added = {edit for fix in self.taken for edit in fix.edits if edit in below}
        left = [Edit(edit.start, edit.end, b"") for edit in below if edit not in added]
        # A fix inside an omitted addition is omitted too, with its imports.
        standing = [fix for fix in self.taken if not any(conflict(edit, one) for edit in fix.edits for one in left)]
        edits: list[Edit] = []
        for fix in standing:
            edits = [old for old in edits if not any(conflict(old, new) for new in fix.edits)]
            edits += (edit for edit in fix.edits if edit not in below)
        base = replace(self.source, content=self.additions.content(below)) if self.additions else self.source
        completion = self.language.complete(base, standing, self.context) if standing else []
        joined = _joined([*_each_helper_once(edits), *left], completion)
        return Step(joined, apply(base.content, joined))

    def adding(self, fix: Fix) -> Fix:
        """Return a fix that appends text to the file, with the fixed positions of its text."""
        assert self.additions is not None
        return replace(fix, edits=tuple(self.additions.add(edit.text) for edit in fix.edits))

    @cached_property
    def now(self) -> SourceFile:
        """Return the current text, under the same path."""
        return replace(self.source, content=self.step.after)

    def origin(self, offset: int) -> int:
        """Map a byte of the current text to the original."""
        return self.step.origin(offset)

    def offset(self, origin: int) -> int:
        """Map a byte of the original to the current text. A replaced byte maps to the start of its replacement."""
        shift = 0
        for edit in self.step.edits:
            if edit.end > origin:
                return min(origin, edit.start) + shift if edit.start < origin else origin + shift
            shift += len(edit.text) - (edit.end - edit.start)
        return origin + shift

    def line_start(self, line: int) -> int:
        """Return the byte of the first non-blank character of a line (from 1) in the current text."""
        at = 0
        content = self.now.content
        for _ in range(line - 1):
            at = content.find(b"\n", at) + 1
            if at == 0:
                return len(content)
        while content[at : at + 1] in (b" ", b"\t"):
            at += 1
        return at

    def take(self, fixes: Iterable[Fix]) -> EditedFile:
        """Return the draft with more fixes, which are in the coordinates of `now`."""
        added = tuple(self._on_original(fix) for fix in fixes)
        return replace(self, taken=(*self.taken, *added))

    def restore(self, fixes: Iterable[Fix]) -> EditedFile:
        """Return the draft with fixes that it had before, which are in coordinates of the original."""
        return replace(self, taken=(*self.taken, *(fix for fix in fixes if fix not in self.taken)))

    def only(self, fixes: Sequence[Fix]) -> EditedFile:
        """Return the draft with only those of ``fixes``, in the order of acceptance."""
        return replace(self, taken=tuple(fix for fix in self.taken if fix in fixes))

    def _on_original(self, fix: Fix) -> Fix:
        if self.additions and any(edit in self.additions.edits for edit in fix.edits):
            return fix
        rebased = replace(fix, edits=self.step.rebase(fix.edits)) if self.taken else fix
        # An earlier fix imports some names, so this one lacks these imports. It needs them without the earlier fix.
        known = {need for other in self.taken for need in other.needs}
        used = (need for need in sorted(known) if any(_asks(edit.text, need) for edit in rebased.edits))
        words = b" ".join(edit.text for edit in rebased.edits)
        helpers = [edit for other in self.taken for edit in other.edits if _helps(edit, words)]
        edits = tuple(dict.fromkeys((*rebased.edits, *helpers)))
        return replace(rebased, edits=edits, needs=tuple(dict.fromkeys((*rebased.needs, *used))))


def _asks(text: bytes, need: str) -> bool:
    """Return whether a text uses the last name of ``need`` and does not import it."""
    name = re.escape(need.rpartition(".")[2].encode())
    imported = re.search(rb"(?m)^[ \t]*(from|import)\b.*\b%s\b" % name, text)
    return imported is None and re.search(rb"\b%s\b" % name, text) is not None


def _helps(edit: Edit, words: bytes) -> bool:
    """Return whether an edit defines a function that ``words`` calls and does not define."""
    names = _DEFINED.findall(edit.text) if edit.start == edit.end else []
    return any(name + b"(" in words and b"def " + name not in words for name in names)


def _each_helper_once(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Yield the edits, but a helper function that several fixes insert only at its first position."""
    brought: set[bytes] = set()
    for edit in sorted(edits):
        helper = edit.start == edit.end and _DEFINED.search(edit.text) is not None
        if not helper or edit.text not in brought:
            yield edit
        if helper:
            brought.add(edit.text)


def _joined(edits: Sequence[Edit], completion: Sequence[Edit]) -> tuple[Edit, ...]:
    """Join all edits. An insertion at the start of an edit is placed before that edit's text."""
    joined = list(edits)
    for added in completion:
        at = next((one for one in joined if one.start == added.start == added.end and one.start < one.end), None)
        if at is not None:
            joined[joined.index(at)] = Edit(at.start, at.end, added.text + at.text)
        else:
            joined.append(added)
    return tuple(sorted(joined))
