"""Build rate: compilation of PyTorch's operator files after `symfix fix`, and protection of kernels.

Protocol. Every file aten/src/ATen/native/*.cpp of PyTorch 2.6.0 is compiled unchanged (g++ -fsyntax-only, the flags of
the verifier) against the headers of the installed torch. Those that compile are the baseline. All files are copied, and
the engine runs over the copy as `symfix fix` does, with the installed torch's schemas. Every changed file of the
baseline is compiled again. A second run over the result has to change nothing.

Each function definition is compared before and after. A changed function counts as a damaged kernel if it is a
structured kernel, or if native_functions.yaml registers it only for CPU, CUDA, ... Both the tree's and the installed
torch's yaml are read, without torchgen.

A precompiled header adds a few torch headers before every file. --plain omits it (three times slower).
Exit code: 0 when nothing broke, 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symfix.codemods.engine.fixpoint import FixOptions
from symfix.codemods.engine.registry import Registry
from symfix.codemods.engine.run import CheckRequest
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.outcome import Changed, Failed

from .building import (
    JOBS,
    Broken,
    Run,
    broken,
    changed_definitions,
    damaged_kernels,
    eligible_functions,
    fix_copy,
    offered_fixes,
    promoted_sites,
    skip_reasons,
)
from .compiling import Compiler, Complaint
from .corpus import NATIVE, operator_files, remembered, source_tree, sources
from .dispatch import kernel_keys
from .functions import Definition
from .table import counted, table, write_json


@dataclass(frozen=True)
class Result:
    """All results for the table."""

    baseline: Mapping[Path, Complaint | None]
    run: Run
    changed: Mapping[Path, Changed]
    broken: list[Broken]
    rebuilt: int
    touched: Mapping[Path, list[Definition]]
    damaged: list[tuple[str, str]]
    eligible: int

    @property
    def failed(self) -> list[str]:
        """Return the files on which symfix failed."""
        return [outcome.path.name for outcome in self.run.outcomes if isinstance(outcome, Failed)]

    @property
    def again(self) -> list[str]:
        """Return the files that a second run would change, or on which it fails."""
        return [
            (outcome.source.path if isinstance(outcome, Changed) else outcome.path).name
            for outcome in self.run.again
            if isinstance(outcome, (Changed, Failed))
        ]

    @property
    def clean(self) -> bool:
        return not (self.broken or self.damaged or self.failed or self.again)

    @property
    def figures(self) -> dict[str, int]:
        return {
            "operator files": len(self.baseline),
            "compile as they are": sum(complaint is None for complaint in self.baseline.values()),
            "of these changed": self.rebuilt,
            "of the changed still compile": self.rebuilt - len(self.broken),
            "files changed in all": len(self.changed),
            "functions that see symbolic sizes": self.eligible,
            "functions changed": sum(map(len, self.touched.values())),
            "fixes applied": sum(len(one.applied) for one in self.changed.values()),
            "concrete calls promoted": sum(map(promoted_sites, self.changed.values())),
            "places left, with a reason": sum(skip_reasons(self.run.outcomes).values()),
            "kernel-only functions changed": len(self.damaged),
            "files a second run changes": len(self.again),
            "files symfix failed on": len(self.failed),
        }


def main() -> int:
    words = _words()
    started = time.monotonic()
    tree = source_tree("2.6.0", words.tree)
    result = measure(tree, plain=words.plain, unsafe=words.unsafe_fixes)
    torch = TorchSurroundings().place.version
    print(f"build rate: {tree.name} against torch {torch} ({time.monotonic() - started:.0f} s)")
    show(result)
    print(f"figures: {write_json('build-rate', words.json, document(result))}")
    return 0 if result.clean else 1


def measure(tree: Path, *, plain: bool, unsafe: bool) -> Result:
    """Compile, fix a copy, compile again, compare."""
    files = operator_files(tree)
    rules = frozenset(card.name for card in Registry().rules)
    say("fixing a copy")
    fixed = fix_copy(files, tree, CheckRequest(rules, FixOptions(unsafe=unsafe)))
    changed = {path: one for path, one in zip(files, fixed.outcomes, strict=True) if isinstance(one, Changed)}
    compiler = Compiler(plain=plain)
    say(f"compiling {len(files)} files as they are")
    baseline = _compiled(compiler, {path: path.read_bytes() for path in files})
    rebuilt = [path for path in changed if baseline[path] is None]
    say(f"compiling {len(rebuilt)} changed files")
    after = _compiled(compiler, {path: changed[path].after for path in rebuilt})
    say("comparing")
    touched = {path: changed_definitions(path, one.source.content, one.after) for path, one in changed.items()}
    witnesses = [_keys(tree / NATIVE), _keys(TorchSurroundings().place.native)]
    who = [Registry().identity, TorchSurroundings().identity]
    identity: list[str | bytes] = [*who, *(path.read_bytes() for path in files)]
    result = Result(
        baseline,
        fixed,
        changed,
        [broken(path, changed[path].after, what) for path, what in after.items() if what is not None],
        len(rebuilt),
        touched,
        [(path.name, one.name) for path, group in touched.items() for one in damaged_kernels(group, witnesses)],
        remembered("eligible", identity, lambda: eligible_functions(files)),
    )
    say("")
    return result


def _compiled(compiler: Compiler, texts: Mapping[Path, bytes]) -> dict[Path, Complaint | None]:
    with ThreadPoolExecutor(JOBS) as pool:
        found = pool.map(lambda path: compiler.complaint(path, texts[path]), texts)
        return dict(zip(texts, found, strict=True))


def show(result: Result) -> None:
    """Print the table and every fault."""
    print(table(((value, name) for name, value in result.figures.items()), indent="  "))
    for title, counts in _counts(result).items():
        if counts:
            print(f"{title}:\n{table(counted(counts), indent='  ')}")
    for one in result.broken:
        print(f"BROKEN {one.file}:{one.complaint.line} in {one.function}: {one.complaint.what}\n    {one.source_line}")
    for file, function in result.damaged:
        print(f"KERNEL CHANGED {file}: {function}")
    for name in result.failed:
        print(f"FAILED {name}")
    for name in result.again:
        print(f"CHANGED AGAIN {name}")


def document(result: Result) -> dict[str, Any]:
    """Return all results for the JSON file."""
    return {
        "figures": result.figures,
        **{title: dict(counts) for title, counts in _counts(result).items()},
        "broken": [
            {"file": one.file, "function": one.function, "line": one.complaint.line, "error": one.complaint.what,
             "source": one.source_line}
            for one in result.broken
        ],
        "kernels changed": result.damaged,
        "changed": {path.name: [one.name for one in group] for path, group in result.touched.items()},
        "not in the baseline": {path.name: what.what for path, what in result.baseline.items() if what is not None},
    }  # fmt: skip


def _counts(result: Result) -> dict[str, Counter[str]]:
    return {
        "fixes applied": Counter(fix.rule for one in result.changed.values() for fix in one.applied),
        "fixes offered": offered_fixes(result.run.outcomes),
        "left, by reason": skip_reasons(result.run.outcomes),
    }


def _keys(folder: Path) -> dict[str, frozenset[str]]:
    place = folder / "native_functions.yaml"
    return remembered("keys", [sources("scoreboards.dispatch"), place.read_bytes()], lambda: kernel_keys(place))


def say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/build-rate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tree", type=Path, help="a PyTorch source tree (default: scripts/corpus brings 2.6.0)")
    parser.add_argument("--plain", action="store_true", help="compile without the precompiled header")
    parser.add_argument("--unsafe-fixes", action="store_true", help="apply the unsafe fixes too")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
