"""A file under repair: its text as it is, and the fixes taken so far, each said of that text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ...engine.coordinates import Step
from ...engine.edits import Edit, apply, conflict
from ...engine.rule import Context, Fix, Language
from ...engine.source import SourceFile

_DEFINED = re.compile(rb"(?m)^def (\w+)\(")


class Additions:
    """What may be written below the end of a file: each text has a place there for good, whether it is taken or not.

    So a fix inside of such a text keeps its place while others come and go.
    """

    def __init__(self, original: bytes) -> None:
        self._original = original
        self._edits: tuple[Edit, ...] = ()

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The texts, each at its place. Another thread may add one at any time: what belongs together is read once."""
        return self._edits

    def content(self, edits: Sequence[Edit]) -> bytes:
        """The file with these texts behind it, all that there were at some time."""
        return self._original + b"".join(edit.text for edit in edits)

    def add(self, text: bytes) -> Edit:
        """The place of a text; the same one when it is added again."""
        known = next((edit for edit in self._edits if edit.text == text), None)
        if known is None:
            start = self._edits[-1].end if self._edits else len(self._original)
            known = Edit(start, start + len(text), text)
            self._edits = (*self._edits, known)
        return known


@dataclass(frozen=True)
class Draft:
    """``source`` with ``taken`` applied; a later fix takes the place of what it overlaps of an earlier one.

    Fixes are said of the original with all ``additions`` behind it: an addition stands there when a fix of it is taken.
    """

    source: SourceFile
    language: Language
    context: Context
    taken: tuple[Fix, ...] = ()
    additions: Additions | None = None

    @cached_property
    def step(self) -> Step:
        """The one step from the original, with all additions, to the text now."""
        below = self.additions.edits if self.additions else ()
        added = {edit for fix in self.taken for edit in fix.edits if edit in below}
        left = [Edit(edit.start, edit.end, b"") for edit in below if edit not in added]
        # A fix inside of a text that is left out is left out with it, and with what it imports.
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
        """A fix that writes something below the end of the file, with the place that its text has for good."""
        assert self.additions is not None
        return replace(fix, edits=tuple(self.additions.add(edit.text) for edit in fix.edits))

    @cached_property
    def now(self) -> SourceFile:
        """The text now, under the same path."""
        return replace(self.source, content=self.step.after)

    def origin(self, offset: int) -> int:
        """Where a byte of the text now stood in the original."""
        return self.step.origin(offset)

    def offset(self, origin: int) -> int:
        """Where a byte of the original stands now; one that was replaced, where its replacement starts."""
        shift = 0
        for edit in self.step.edits:
            if edit.end > origin:
                return min(origin, edit.start) + shift if edit.start < origin else origin + shift
            shift += len(edit.text) - (edit.end - edit.start)
        return origin + shift

    def line_start(self, line: int) -> int:
        """The byte of the text now at which a line starts (counted from 1)."""
        at = 0
        content = self.now.content
        for _ in range(line - 1):
            at = content.find(b"\n", at) + 1
            if at == 0:
                return len(content)
        while content[at : at + 1] in (b" ", b"\t"):
            at += 1
        return at

    def take(self, fixes: Iterable[Fix]) -> Draft:
        """With more fixes, which were decided on the text `now`."""
        added = tuple(self._on_original(fix) for fix in fixes)
        return replace(self, taken=(*self.taken, *added))

    def only(self, fixes: Sequence[Fix]) -> Draft:
        """With none but those of ``fixes``, in the order in which they were taken."""
        return replace(self, taken=tuple(fix for fix in self.taken if fix in fixes))

    def _on_original(self, fix: Fix) -> Fix:
        if self.additions and any(edit in self.additions.edits for edit in fix.edits):
            return fix
        rebased = replace(fix, edits=self.step.rebase(fix.edits)) if self.taken else fix
        # What an earlier fix imports is in sight, so this one does not ask for it; it must without the other.
        known = {need for other in self.taken for need in other.needs}
        used = (need for need in sorted(known) if any(_asks(edit.text, need) for edit in rebased.edits))
        words = b" ".join(edit.text for edit in rebased.edits)
        helpers = [edit for other in self.taken for edit in other.edits if _helps(edit, words)]
        edits = tuple(dict.fromkeys((*rebased.edits, *helpers)))
        return replace(rebased, edits=edits, needs=tuple(dict.fromkeys((*rebased.needs, *used))))


def _asks(text: bytes, need: str) -> bool:
    """Whether a text uses the last name of ``need`` and does not import it itself."""
    name = re.escape(need.rpartition(".")[2].encode())
    imported = re.search(rb"(?m)^[ \t]*(from|import)\b.*\b%s\b" % name, text)
    return imported is None and re.search(rb"\b%s\b" % name, text) is not None


def _helps(edit: Edit, words: bytes) -> bool:
    """Whether an edit brings a function that is called in ``words`` and not defined there."""
    names = _DEFINED.findall(edit.text) if edit.start == edit.end else []
    return any(name + b"(" in words and b"def " + name not in words for name in names)


def _each_helper_once(edits: Iterable[Edit]) -> Iterator[Edit]:
    """Fixes that were found apart may each bring the same function: the first place is as good for all of them."""
    brought: set[bytes] = set()
    for edit in sorted(edits):
        helper = edit.start == edit.end and _DEFINED.search(edit.text) is not None
        if not helper or edit.text not in brought:
            yield edit
        if helper:
            brought.add(edit.text)


def _joined(edits: Sequence[Edit], completion: Sequence[Edit]) -> tuple[Edit, ...]:
    """All edits; a header or import that is inserted where an edit starts comes before that edit's text."""
    joined = list(edits)
    for added in completion:
        at = next((one for one in joined if one.start == added.start == added.end and one.start < one.end), None)
        if at is not None:
            joined[joined.index(at)] = Edit(at.start, at.end, added.text + at.text)
        else:
            joined.append(added)
    return tuple(sorted(joined))
