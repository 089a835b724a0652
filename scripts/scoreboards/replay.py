"""Replay of people's C++ work: the tool's changes to PyTorch 1.13.1, compared with people's changes in 2.6.0.

Protocol. Function definitions below aten/src/ATen/native (*.cpp) of both releases are paired. A pair has the same name
(except for a final ``_symint``) and the same parameter names in the same order. There is only one candidate on either
side, or only one in the same file. A pair counts if its token difference adds symbolic sizes: ``sym_size``, ``SymInt``,
``view_symint``, ... The engine runs on 1.13.1's files as `symfix diff` does, with safe fixes only, and nothing is
written. It uses the schemas of 2.6.0: people changed schema and kernel together, and this board measures only the
changes of a file whose schema already takes SymInt.

Texts are compared as tokens. White space, comments and ``c10::`` before Sym types are ignored. A function has one of
these verdicts:

- *identical*: the tool's text is people's text, or the old text with exactly people's symbolic hunks.
- *identical plus*: it contains all of these hunks and safe fixes of other places.
- *refused*: the tool changed nothing in it.
- *different*: everything else.

People's other changes between the releases are ignored. In addition hunks are counted one by one.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from symfix.codemods.engine.file_discovery import DiscoveredFile
from symfix.codemods.engine.fixpoint import FixOptions
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.run import CheckRequest, run
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.outcome import Changed, Failed, Unchanged
from symfix.codemods.model.rule import Skip
from symfix.codemods.model.source_file import SourceFile

from .corpus import NATIVE, remembered, source_tree, sources
from .functions import Definition, definitions
from .judging import Case, document, judge, show
from .table import write_json
from .tokens import is_symbolic, symbolic_hunks, tokens

JOBS = 2


def main() -> int:
    words = _words()
    old, new = source_tree("1.13.1", words.old), source_tree("2.6.0", words.tree)
    pairs = symbolic_pairs(inventory(old), inventory(new))
    rules = frozenset(words.select or (card.name for card in Registry().rules))
    question = CheckRequest(rules, FixOptions(unsafe=words.unsafe_fixes))
    cases = replayed(pairs, old, question, TorchSurroundings(torch_root=new))
    judged = [one for case in cases if (one := judge(case)) is not None]
    print(f"replay: {old.name} → {new.name}, {len(judged)} functions to which people brought symbolic sizes")
    show(judged, most=words.reasons)
    print(f"figures: {write_json('replay-cpp', words.json, document(judged))}")
    return 0


def inventory(tree: Path) -> list[tuple[str, Definition]]:
    """Return every function definition of a tree's operator files, with the file's path below native/."""
    top = tree / NATIVE
    files = [(path.relative_to(top).as_posix(), path.read_bytes()) for path in sorted(top.rglob("*.cpp"))]

    def read() -> list[tuple[str, Definition]]:
        return [(name, one) for name, content in files for one in definitions(top / name, content)]

    reader = sources(
        "symfix.cpp.syntax.model", "symfix.cpp.syntax.tree", "symfix.cpp.syntax.macro_mask", "scoreboards.functions"
    )
    return remembered("definitions", [reader, *(part for file in files for part in file)], read)


def symbolic_pairs(
    old: list[tuple[str, Definition]], new: list[tuple[str, Definition]]
) -> list[tuple[str, Definition, Definition]]:
    """Return the functions that are in both lists and that people made symbolic in between."""
    candidates: dict[tuple[object, ...], list[tuple[str, Definition]]] = defaultdict(list)
    for file, definition in new:
        candidates[_identity(definition)].append((file, definition))
    rivals: dict[tuple[object, ...], list[tuple[str, Definition]]] = defaultdict(list)
    for file, definition in old:
        rivals[_identity(definition)].append((file, definition))
    found = []
    for file, before in old:
        after = _only(candidates[_identity(before)], file)
        if after is None or _only(rivals[_identity(before)], file) is not before:
            continue
        if any(map(is_symbolic, (token.text for token in tokens(after.text)))) and symbolic_hunks(
            tokens(before.text), tokens(after.text)
        ):
            found.append((file, before, after))
    return found


def replayed(
    pairs: list[tuple[str, Definition, Definition]], tree: Path, question: CheckRequest, surroundings: TorchSurroundings
) -> list[Case]:
    """Run the engine over the old files and return one case for each pair."""
    top = tree / NATIVE
    files = sorted({top / file for file, _, _ in pairs})
    report = run([DiscoveredFile.of(path) for path in files], question, surroundings, jobs=JOBS)
    cases = []
    for path, outcome in zip(files, report.outcomes, strict=True):
        if isinstance(outcome, Failed):
            print(f"FAILED {path.name}: {outcome.detail.strip().splitlines()[-1]}")
        if not isinstance(outcome, (Changed, Unchanged)):
            continue
        content = outcome.source.content
        after = outcome.after if isinstance(outcome, Changed) else content
        mine = [(before, theirs) for file, before, theirs in pairs if top / file == path]
        cases += cases_of(path.relative_to(top).as_posix(), outcome.source, after, mine, outcome.skips, surroundings)
    return cases


def cases_of(
    file: str,
    source: SourceFile,
    after: bytes,
    pairs: list[tuple[Definition, Definition]],
    skips: tuple[Skip, ...],
    surroundings: TorchSurroundings,
) -> list[Case]:
    """Return the pairs of one file with the tool's text of each."""
    ours = {definition.key: definition.text for definition in definitions(source.path, after)}
    standing = _standing(source, surroundings)
    cases = []
    for before, theirs in pairs:
        inside = tuple(
            replace(skip, start=skip.start - before.start, end=skip.end - before.start)
            for skip in skips
            if before.start <= skip.start < before.end
        )
        eligible, registered = standing.get(before.start, (False, False))
        text = ours.get(before.key, "")
        cases.append(Case(file, before.name, before.text, theirs.text, text, inside, eligible, registered))
    return cases


def _standing(source: SourceFile, surroundings: TorchSurroundings) -> dict[int, tuple[bool, bool]]:
    """Return for each function, by its start, whether it sees symbolic sizes and whether the dispatcher calls it."""
    from symfix.cpp.analysis.file.file_analysis import knowledge

    def ask() -> dict[int, tuple[bool, bool]]:
        know = knowledge(source, surroundings.context())
        return {
            function.node.start_byte: (
                know.eligibility.is_eligible(function),
                know.eligibility.is_registered(function),
            )
            for function in know.model.functions
            if not function.is_lambda
        }

    return remembered("standing", [Registry().identity, repr(surroundings.identity), source.content], ask)


def _identity(definition: Definition) -> tuple[object, ...]:
    return definition.macro, definition.name.removesuffix("_symint"), definition.parameters


def _only(candidates: list[tuple[str, Definition]], file: str) -> Definition | None:
    """Return the only candidate, or the only one of that file, or None if it is ambiguous."""
    if len(candidates) > 1:
        candidates = [candidate for candidate in candidates if candidate[0] == file]
    return candidates[0][1] if len(candidates) == 1 else None


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/replay-cpp", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--old", type=Path, help="the older tree (default: scripts/corpus brings 1.13.1)")
    parser.add_argument("--tree", type=Path, help="the newer tree (default: scripts/corpus brings 2.6.0)")
    parser.add_argument("--unsafe-fixes", action="store_true", help="apply the unsafe fixes too")
    parser.add_argument("--select", nargs="+", metavar="RULE", help="these rules only")
    parser.add_argument("--reasons", type=int, default=10, help="how many classes of differences to print")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
