"""Checks and fixes of an editor's text, which may differ from the file on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from ..engine.cache_dependencies import forget_packages
from ..engine.file_discovery import DiscoveredFile
from ..engine.fixpoint import FixOptions, apply_fix
from ..engine.project_facts import forget_projects
from ..engine.registry import load_language
from ..engine.run import CheckRequest, run
from ..engine.torch_context import TorchSurroundings
from ..model.outcome import Changed, Failed, Refused, Unchanged
from ..model.rule import Fix, Safety
from ..model.source_file import SourceFile
from ..torchapi.errors import TorchError

MOST_BYTES = 1_000_000
"""Limit on a text that is checked at each change."""
TextOutcome = Changed | Unchanged | Refused
_KEPT = 32
_SHOWN = FixOptions(polish=False)
_SINGLE = FixOptions(polish=False, apply=False)


class TextChecker:
    """Checker with the options of one run. Outcomes are cached by path and content."""

    def __init__(self, question: CheckRequest, surroundings: TorchSurroundings) -> None:
        self._question = question
        self._surroundings = surroundings
        self._outcome = lru_cache(maxsize=_KEPT)(self._run)

    def reads(self, path: Path) -> bool:
        """Return whether the rules read this kind of file, without other files of the same change."""
        wing = self._question.registry.wing(path)
        return wing is not None and not wing.hangs_on_other_files

    def check(self, path: Path, content: bytes) -> TextOutcome:
        """Return the outcome that ``symfix check`` has for a file with this content."""
        return self._outcome(path, content, _SHOWN)

    def single_fixes(self, path: Path, content: bytes) -> Sequence[Fix]:
        """Return the fixes that can each be applied alone to this text."""
        outcome = self._outcome(path, content, _SINGLE)
        found = outcome.offered if isinstance(outcome, (Changed, Unchanged)) else ()
        return [fix for fix in found if fix.safety is not Safety.MANUAL and not fix.files]

    def apply_one(self, path: Path, content: bytes, fix: Fix) -> bytes:
        """Return the text with one of its `single_fixes`."""
        wing = self._question.registry.suffixes[path.suffix]
        source = SourceFile(path, content, named=True)
        return apply_fix(source, fix, load_language(wing.package), self._surroundings.context())

    def apply_safe(self, path: Path, content: bytes) -> bytes:
        """Return the text as ``symfix fix`` leaves it."""
        outcome = self._outcome(path, content, FixOptions())
        return outcome.after if isinstance(outcome, Changed) else content

    def parse_error(self, path: Path, content: bytes) -> int:
        """Return the offset at which a text does not parse, or 0 if that is unknown."""
        wing = self._question.registry.suffixes[path.suffix]
        source = SourceFile(path, content, named=True)
        found = load_language(wing.package).unparsed(source, self._surroundings.context())
        return 0 if found is None else found[0]

    def forget(self) -> None:
        """Forget all outcomes and all facts of other files, since one of them was saved."""
        self._outcome.cache_clear()
        forget_packages()
        forget_projects()

    def _run(self, path: Path, content: bytes, wishes: FixOptions) -> TextOutcome:
        if len(content) > MOST_BYTES:
            what = f"is larger than {MOST_BYTES // 1_000_000} MB and not checked in an editor"
            return Refused(path, "too-large", f"{what}; run symfix check {path.name}")
        question = replace(self._question, wishes=wishes)
        try:
            (outcome,) = run([DiscoveredFile.of(path, content)], question, self._surroundings).outcomes
        except TorchError as error:
            return Refused(path, "no-torch", str(error))
        if isinstance(outcome, Failed):
            return Refused(path, "failed", f"is not checked by a bug of symfix; symfix check {path.name} prints it")
        return outcome
