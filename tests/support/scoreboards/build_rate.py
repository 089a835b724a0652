"""Build rate: do PyTorch's operator files still compile after `symfix fix`, and were all kernels left alone?

Protocol. Every file aten/src/ATen/native/*.cpp of PyTorch 2.6.0 is compiled as it is (g++ -fsyntax-only, the flags of
the verifier) against the headers of the installed torch; those that compile are the baseline. All files are copied,
the engine runs over the copy as `symfix fix` does, with the installed torch's schemas, and every changed file of the
baseline is compiled again. A second run over the result has to change nothing. Each function definition is compared
before and after: a changed function that native_functions.yaml (the tree's or the installed torch's, read without
torchgen) registers for CPU, CUDA, ... only, or that is a structured kernel, counts as a damaged kernel.

A precompiled header brings a few torch headers ahead of every file; --plain leaves it out (three times slower). With
--tree-headers the source tree fills what the installed headers lack, which brings more files into the baseline.
Exit code: 0 when nothing broke, 1 otherwise.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symfix.codemods.intake import Target
from symfix.codemods.outcome import Changed, Failed, Outcome, Unchanged
from symfix.codemods.registry import Registry
from symfix.codemods.rounds import Wishes
from symfix.codemods.rule import Safety
from symfix.codemods.run import Question, run
from symfix.codemods.source import SourceFile
from symfix.codemods.surroundings import TorchSurroundings
from symfix.codemods.verify.scratch import scratch_folder
from symfix.cpp._infer import CONCRETE

from .compiling import Compiler, Complaint
from .corpus import NATIVE, operator_files, remembered, source_tree
from .dispatch import kernel_keys, only_real
from .functions import Definition, definition_at, definitions
from .table import counted, table, write_json

JOBS = 2


@dataclass(frozen=True)
class Broken:
    """A file that compiled before and does not now."""

    file: str
    function: str
    complaint: Complaint
    source_line: str


def changed_definitions(path: Path, before: bytes, after: bytes) -> list[Definition]:
    """The definitions of ``before`` that read otherwise in ``after``, or are gone."""
    then = {definition.key: definition for definition in definitions(path, after)}
    return [
        definition
        for definition in definitions(path, before)
        if (now := then.get(definition.key)) is None or now.text != definition.text
    ]


def promoted_sites(outcome: Changed) -> int:
    """How many concrete calls became their symbolic twins."""
    content = outcome.source.content
    return sum(
        content[edit.start : edit.end].decode() in CONCRETE and edit.text.startswith(b"sym_")
        for fix in outcome.applied
        for edit in fix.edits
    )


def damaged_kernels(changed: list[Definition], witnesses: list[dict[str, frozenset[str]]]) -> list[Definition]:
    """Those of the changed definitions that only ever run on real data."""
    return [
        one
        for one in changed
        if one.structured_kernel or any(only_real(keys.get(one.name, frozenset())) for keys in witnesses)
    ]


def eligible_functions(files: list[Path], surroundings: TorchSurroundings) -> int:
    """How many functions of these files see symbolic sizes."""
    from symfix.cpp._analysis import knowledge

    context = surroundings.context()
    return sum(len(knowledge(SourceFile(path, path.read_bytes()), context).eligibility.functions) for path in files)


def broken(path: Path, after: bytes, complaint: Complaint) -> Broken:
    """The complaint with the function and the line of the changed text that it is about."""
    lines = after.decode().splitlines(keepends=True)
    offset = len("".join(lines[: max(complaint.line - 1, 0)]).encode())
    inside = definition_at(definitions(path, after), offset)
    line = lines[complaint.line - 1].strip() if 0 < complaint.line <= len(lines) else ""
    return Broken(path.name, inside.name if inside else "", complaint, line)


def main() -> int:
    words = _words()
    started = time.monotonic()
    tree = source_tree("2.6.0", words.tree)
    compiler = Compiler(plain=words.plain, tree=tree if words.tree_headers else None)
    files = operator_files(tree)
    with ThreadPoolExecutor(JOBS) as pool:
        say("compiling the files as they are")
        baseline = dict(zip(files, pool.map(lambda path: compiler.complaint(path, path.read_bytes()), files)))
        with scratch_folder() as scratch:
            say("fixing a copy")
            outcomes, again = fix_copy(files, tree, scratch, unsafe=words.unsafe_fixes)
        changed = {files[number]: one for number, one in enumerate(outcomes) if isinstance(one, Changed)}
        rebuilt = [path for path in changed if baseline[path] is None]
        say(f"compiling {len(rebuilt)} changed files")
        after = dict(zip(rebuilt, pool.map(lambda path: compiler.complaint(path, changed[path].after), rebuilt)))
    return report(words, tree, baseline, outcomes, changed, after, again, time.monotonic() - started)


def fix_copy(files: list[Path], tree: Path, scratch: Path, *, unsafe: bool) -> tuple[list[Outcome], list[Outcome]]:
    """What `symfix fix` makes of a copy of the files, and what a second run would still do."""
    folder = scratch / NATIVE
    folder.mkdir(parents=True)
    if (tree / ".clang-format").exists():
        shutil.copy(tree / ".clang-format", scratch)
    copies = [Path(shutil.copy(path, folder)) for path in files]
    question = Question(frozenset(card.name for card in Registry().rules), Wishes(unsafe=unsafe))
    targets = [Target(path, named=True) for path in copies]
    first = run(targets, question, TorchSurroundings(), jobs=JOBS).outcomes
    for outcome in first:
        if isinstance(outcome, Changed):
            outcome.source.path.write_bytes(outcome.after)
    second = run(targets, question, TorchSurroundings(), jobs=JOBS).outcomes
    return list(first), [outcome for outcome in second if isinstance(outcome, (Changed, Failed))]


def report(
    words: argparse.Namespace,
    tree: Path,
    baseline: dict[Path, Complaint | None],
    outcomes: list[Outcome],
    changed: dict[Path, Changed],
    after: dict[Path, Complaint | None],
    again: list[Outcome],
    seconds: float,
) -> int:
    """Print the table, write the JSON, and say by the exit code whether anything broke."""
    surroundings = TorchSurroundings()
    witnesses = [
        remembered("keys", [place.read_bytes()], lambda place=place: kernel_keys(place))  # type: ignore[misc]
        for place in (tree / NATIVE / "native_functions.yaml", surroundings.place.native / "native_functions.yaml")
    ]
    touched = {path: changed_definitions(path, one.source.content, one.after) for path, one in changed.items()}
    damaged = [(path.name, one.name) for path, group in touched.items() for one in damaged_kernels(group, witnesses)]
    breaking = [broken(path, changed[path].after, what) for path, what in after.items() if what is not None]
    files = list(baseline)
    identity = [Registry().identity, repr(surroundings.identity), *(path.read_bytes() for path in files)]
    eligible = remembered("eligible", identity, lambda: eligible_functions(files, surroundings))
    skips = Counter(
        f"mode {skip.mode}  {skip.reason}"
        for one in outcomes
        if isinstance(one, (Changed, Unchanged))
        for skip in one.skips
    )
    offered = Counter(
        f"{fix.rule} ({fix.safety.value})"
        for one in outcomes
        if isinstance(one, (Changed, Unchanged))
        for fix in one.offered
        if fix.safety is not Safety.SAFE
    )
    applied = Counter(fix.rule for one in changed.values() for fix in one.applied)
    failed = [one for one in outcomes if isinstance(one, Failed)]
    figures: dict[str, Any] = {
        "operator files": len(files),
        "compile as they are": sum(what is None for what in baseline.values()),
        "of these changed": len(after),
        "of these still compile": len(after) - len(breaking),
        "all files changed": len(changed),
        "eligible functions": eligible,
        "functions changed": sum(map(len, touched.values())),
        "fixes applied": sum(applied.values()),
        "concrete calls promoted": sum(map(promoted_sites, changed.values())),
        "concrete calls and branches left": sum(skips.values()),
        "kernel-only functions changed": len(damaged),
        "files a second run changes": len(again),
        "files symfix failed on": len(failed),
    }
    say("")
    print(f"build rate: {tree.name} against torch {surroundings.place.version} ({seconds:.0f} s)")
    print(table(((value, name) for name, value in figures.items()), indent="  "))
    for title, counts in (("applied", applied), ("offered, not applied", offered), ("left, by reason", skips)):
        if counts:
            print(f"{title}:\n{table(counted(counts), indent='  ')}")
    for one in breaking:
        where = f"{one.file}:{one.complaint.line} in {one.function}"
        print(f"BROKEN {where}\n  {one.complaint.what}\n  {one.source_line}")
    for name, function in damaged:
        print(f"KERNEL CHANGED {name}: {function}")
    for outcome in [*failed, *again]:
        path = (
            outcome.source.path
            if isinstance(outcome, Changed)
            else outcome.path
            if isinstance(outcome, Failed)
            else None
        )
        print(f"{type(outcome).__name__.upper()} {path and path.name}")
    document = {
        "figures": figures,
        "applied": dict(applied),
        "offered": dict(offered),
        "skips": dict(skips),
        "broken": [
            {"file": one.file, "function": one.function, "line": one.complaint.line, "error": one.complaint.what,
             "source": one.source_line}
            for one in breaking
        ],
        "kernels changed": damaged,
        "not in the baseline": {path.name: what.what for path, what in baseline.items() if what is not None},
        "changed files": sorted(path.name for path in changed),
    }  # fmt: skip
    print(f"figures: {write_json('build-rate', words.json, document)}")
    return 1 if breaking or damaged or again or failed else 0


def say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/build-rate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, help="a PyTorch source tree (default: scripts/corpus brings 2.6.0)")
    parser.add_argument("--plain", action="store_true", help="compile without the precompiled header")
    parser.add_argument("--tree-headers", action="store_true", help="let the tree fill what the headers lack")
    parser.add_argument("--unsafe-fixes", action="store_true", help="apply the unsafe fixes too")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
