"""Restore: people's symbolic C++ made concrete by machine, and symfix's changes to the result.

Protocol. Every file aten/src/ATen/native/*.cpp of PyTorch 2.6.0 with symbolic code is made concrete as a whole, word by
word. For example ``sym_size`` becomes ``size``, ``view_symint`` becomes ``view``, ``c10::SymInt`` becomes ``int64_t``,
``a.sym_eq(b)`` becomes ``a == b``, and a kernel ``foo_symint`` becomes ``foo``. ``guard_int()`` is removed. The engine
runs over the copy with that tree's schemas and safe fixes only. The original is the reference. Each function that the
conversion changed is compared as in the replay: identical, identical plus, different, refused.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from symfix.codemods.engine.file_discovery import DiscoveredFile
from symfix.codemods.engine.fixpoint import FixOptions
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.run import CheckRequest, run
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.outcome import Changed, Failed, Unchanged

from .concreting import concrete
from .corpus import operator_files, source_tree
from .functions import Definition, definitions
from .judging import Case, document, judge, show
from .replay import JOBS, cases_of
from .table import write_json


def main() -> int:
    words = _words()
    tree = source_tree("2.6.0", words.tree)
    question = CheckRequest(
        frozenset(words.select or (card.name for card in Registry().rules)), FixOptions(unsafe=words.unsafe_fixes)
    )
    cases = restored(operator_files(tree), question, TorchSurroundings(torch_root=tree))
    judged = [one for case in cases if (one := judge(case)) is not None]
    print(f"restore: {tree.name}, {len(judged)} symbolic functions made concrete")
    show(judged, most=words.reasons)
    print(f"figures: {write_json('restore-cpp', words.json, document(judged))}")
    return 0


def restored(files: list[Path], question: CheckRequest, surroundings: TorchSurroundings) -> list[Case]:
    """Make the files concrete, run the engine over them, and return one case for each converted function."""
    originals: dict[Path, str] = {}
    targets = []
    for path in files:
        text = path.read_text()
        plain = concrete(text, frozenset(one.name for one in definitions(path, text.encode())))
        if plain != text:
            originals[path] = text
            targets.append(DiscoveredFile.of(path, plain.encode()))
    outcomes = run(targets, question, surroundings, jobs=JOBS).outcomes
    cases = []
    for target, outcome in zip(targets, outcomes, strict=True):
        if isinstance(outcome, Failed):
            print(f"FAILED {outcome.path.name}: {outcome.detail.strip().splitlines()[-1]}")
        if isinstance(outcome, (Changed, Unchanged)):
            source = outcome.source
            after = outcome.after if isinstance(outcome, Changed) else source.content
            pairs = _pairs(target.path, source.content, originals[target.path].encode())
            cases += cases_of(target.path.name, source, after, pairs, outcome.skips, surroundings)
    return cases


def _pairs(path: Path, plain: bytes, original: bytes) -> list[tuple[Definition, Definition]]:
    before = {definition.key: definition for definition in definitions(path, plain)}
    return [
        (before[theirs.key], theirs)
        for theirs in definitions(path, original)
        if theirs.key in before and before[theirs.key].text != theirs.text
    ]


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/restore-cpp", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, help="a PyTorch source tree (default: scripts/corpus brings 2.6.0)")
    parser.add_argument("--unsafe-fixes", action="store_true", help="apply the unsafe fixes too")
    parser.add_argument("--select", nargs="+", metavar="RULE", help="these rules only")
    parser.add_argument("--reasons", type=int, default=10, help="how many classes of differences to print")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
