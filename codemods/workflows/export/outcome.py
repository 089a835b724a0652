"""The result of exporting a target: removed obstacles, the patch, or the failure that remains."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


class TargetVerdict(Enum):
    """Verdict on a target."""

    AS_IT_IS = "exports as it is"
    PROVEN = "proven"
    WITH_TORCH = "proven with a change of torch"
    ONE_SIDED = "one side only"
    """Verdict on a target that exports with the patch and equals the model on every input. No input takes one side of a
    changed branch."""
    LEFT = "left"
    UNUSABLE = "unusable"
    """Verdict on a target that is faulty itself. ``message`` is the reason."""


_REFUSED = re.compile(r"at (.+?) the program refuses what the model takes")
_REFUSES = re.compile(r"program refuses? ([^;]+)")

SPECIAL_SIZE = "special-size"
REASONS = {
    "value-dependent": "the values of a tensor decide what is computed; torch.where or torch.cond keeps both sides",
    "loop-over-data": "the values of a tensor say how often a loop runs; write it with operations on whole tensors",
    "decides-rank": "the values of a tensor decide how many dimensions or results there are; make it an argument",
    "loop-over-size": "a loop runs as often as a size says; write it with operations on whole tensors",
    "narrows-range": "a branch keeps the program to a part of the sizes; with --unbacked a default can be tried",
    SPECIAL_SIZE: "torch assumes that a dynamic size is 2 or more, and here the model differs below; use --unbacked",
    "no-source": "the line stands in a file whose source is not at hand",
    "in-torch": "torch itself asks for the size; `symfix repair --torch-root` tries changes of its C++ too",
    "undecided-size": "no fix that was tried decides this size rightly",
    "other-result": "what was tried gives another result than the model",
    "not-sizes": "the export fails for a reason that has nothing to do with sizes",
}
"""Reason codes of targets that do not export, with advice."""


@dataclass(frozen=True)
class SourcePlace:
    """A line of code, whose text is ``text``. ``file`` is relative to the project or the folder of packages."""

    file: str
    line: int
    function: str
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}"


@dataclass(frozen=True)
class ExportBlocker:
    """A place where the export stopped, and its change."""

    place: SourcePlace
    way: str
    expression: str
    """Undecided condition, in symbols."""
    inside: str
    """Line of torch that needed the value, if it was torch."""
    changes: tuple[str, ...]
    defaults: tuple[str, ...]
    """Assumptions of the change, in words."""


@dataclass(frozen=True)
class LastFailure:
    """The failure at which a target finally stops."""

    reason: str
    """Key of `REASONS`."""
    message: str
    way: str
    place: SourcePlace | None
    inside: str
    tried: tuple[tuple[str, str], ...]
    """Candidates that were tried there, each with its result."""


@dataclass(frozen=True)
class FilePatch:
    """One changed file: its name in the patch, its text before and after, and its package."""

    name: str
    path: Path
    before: bytes
    after: bytes
    package: str = ""
    """``NAME VERSION``. Empty for the user's own code."""

    @property
    def of_torch(self) -> bool:
        """Return whether the file belongs to torch, which a user can't change for others."""
        return self.package.startswith("torch ")


@dataclass(frozen=True)
class Exported:
    """Result of one target."""

    target: str
    verdict: TargetVerdict
    message: str = ""
    obstacles: tuple[ExportBlocker, ...] = ()
    files: tuple[FilePatch, ...] = ()
    notes: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    """Calls on which the program was compared with the model."""
    unseen: tuple[str, ...] = ()
    """Changed conditions of which no input takes one side: line of the changed file, truth value, text."""
    left: LastFailure | None = None
    further: tuple[SourcePlace, ...] = ()
    """Lines behind the failure at which the export would stop too."""

    @property
    def good(self) -> bool:
        return self.verdict in (TargetVerdict.AS_IT_IS, TargetVerdict.PROVEN)

    @property
    def refused(self) -> tuple[str, ...]:
        """Return the calls that the model accepts and a program refuses, by name or by the violated condition."""
        found = [_REFUSED.search(note) for note in self.notes]
        found += [_REFUSES.search(words) for words in self.defaults]
        return tuple(dict.fromkeys(one[1] for one in found if one))

    @property
    def defaults(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(words for one in self.obstacles for words in one.defaults))


@dataclass(frozen=True)
class ExportOutcome:
    """Result of a run over some targets."""

    torch: str
    ways: tuple[str, ...]
    unbacked: bool
    targets: tuple[Exported, ...]
    seconds: float = 0.0

    @property
    def protocol(self) -> str:
        sizes = "unbacked sizes" if self.unbacked else "dynamic sizes"
        return f"{', '.join(self.ways)} with {sizes}"
