"""Results of a run of the tool over operator files: compilation, changes, and damaged kernels."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from symfix.codemods.engine.file_discovery import DiscoveredFile
from symfix.codemods.engine.run import CheckRequest, run
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.model.outcome import Changed, Failed, Outcome, Unchanged
from symfix.codemods.model.source_file import SourceFile
from symfix.cpp.analysis.file.methods import CONCRETE

from .compiling import Complaint
from .corpus import NATIVE, remembered
from .dispatch import only_real
from .functions import Definition, definition_at, definitions

JOBS = 2


@dataclass(frozen=True)
class Run:
    """Outcomes of all files, and of a second run those that changed or failed again."""

    outcomes: tuple[Outcome, ...]
    again: tuple[Outcome, ...]


@dataclass(frozen=True)
class Broken:
    """A file that compiled before and does not now."""

    file: str
    function: str
    complaint: Complaint
    source_line: str


def fix_copy(files: Sequence[Path], tree: Path, question: CheckRequest) -> Run:
    """Run `symfix fix` twice over a copy of the files and return both results, which are cached."""
    style = tree / ".clang-format"
    settings = [style.read_bytes()] if style.exists() else []
    surroundings = TorchSurroundings()
    who = [question.registry.identity, surroundings.identity, repr((sorted(question.rules), question.wishes))]

    def fix() -> Run:
        with scratch_folder() as scratch:
            folder = scratch / NATIVE
            folder.mkdir(parents=True)
            for content in settings:
                (scratch / style.name).write_bytes(content)
            targets = [DiscoveredFile.of(Path(shutil.copy(path, folder))) for path in files]
            first = run(targets, question, surroundings, jobs=JOBS).outcomes
            for outcome in first:
                if isinstance(outcome, Changed):
                    outcome.source.path.write_bytes(outcome.after)
            second = run(targets, question, surroundings, jobs=JOBS).outcomes
        return Run(first, tuple(outcome for outcome in second if isinstance(outcome, (Changed, Failed))))

    return remembered("fixed", [*who, *settings, *(path.read_bytes() for path in files)], fix)


def changed_definitions(path: Path, before: bytes, after: bytes) -> list[Definition]:
    """Return the definitions of ``before`` whose text differs in ``after`` or is missing there."""
    now = {definition.key: definition.text for definition in definitions(path, after)}
    return [definition for definition in definitions(path, before) if now.get(definition.key) != definition.text]


def damaged_kernels(changed: Iterable[Definition], witnesses: Iterable[dict[str, frozenset[str]]]) -> list[Definition]:
    """Return those of the changed definitions that only run on real data, according to any of the witnesses."""
    listed = list(witnesses)
    return [
        one
        for one in changed
        if one.structured_kernel or any(only_real(keys.get(one.name, frozenset())) for keys in listed)
    ]


def promoted_sites(outcome: Changed) -> int:
    """Count the concrete calls that were replaced by their symbolic counterparts."""
    content = outcome.source.content
    return sum(
        content[edit.start : edit.end].decode() in CONCRETE and edit.text.startswith(b"sym_")
        for fix in outcome.applied
        for edit in fix.edits
    )


def eligible_functions(files: Iterable[Path]) -> int:
    """Count the functions of these files that see symbolic sizes."""
    from symfix.cpp.analysis.file.file_analysis import knowledge

    context = TorchSurroundings().context()
    return sum(len(knowledge(SourceFile(path, path.read_bytes()), context).eligibility.functions) for path in files)


def skip_reasons(outcomes: Iterable[Outcome]) -> Counter[str]:
    """Count the skips by mode and reason."""
    return Counter(
        f"mode {skip.mode}  {skip.reason}"
        for one in outcomes
        if isinstance(one, (Changed, Unchanged))
        for skip in one.skips
    )


def offered_fixes(outcomes: Iterable[Outcome]) -> Counter[str]:
    """Count the fixes that are available but were not requested, by rule."""
    return Counter(
        f"{fix.rule} ({fix.safety.value})"
        for one in outcomes
        if isinstance(one, (Changed, Unchanged))
        for fix in one.offered
    )


def broken(path: Path, after: bytes, complaint: Complaint) -> Broken:
    """Combine a complaint with the function and the line of the changed text that it refers to."""
    lines = after.decode().splitlines(keepends=True)
    offset = len("".join(lines[: max(complaint.line - 1, 0)]).encode())
    inside = definition_at(definitions(path, after), offset)
    line = lines[complaint.line - 1].strip() if 0 < complaint.line <= len(lines) else ""
    return Broken(path.name, inside.name if inside else "", complaint, line)
