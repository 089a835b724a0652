"""Proven operators: real PyTorch operators that fail on symbolic sizes, fixed and proven by `symfix fix --verify`.

Protocol. Every script in golden/repros whose docstring names an operator, a PyTorch release and one of its operator
files is replayed without stored results. The file of that release is copied, and `symfix fix --verify` changes the copy
with safe fixes only. It uses the schemas of the installed torch, and the file is compiled against its headers. Both
versions are compiled and swapped into the installed torch.

The script traces the operator, calls it at two or more sizes, forbids recompilation and compares with its own sums.
Torch's own operator tests follow. A fix on an unrun line is dropped, as the table counts. No stored evidence is used.
The last column is the result of the installed torch without a swap.
Exit code: 0 when every operator is proven, 1 otherwise.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.harness.observation import Observation
from symfix.codemods.torchapi.torch_finder import release
from symfix.codemods.verify.change import Change, Verdict
from symfix.codemods.verify.command import VerifySession, verify
from symfix.codemods.verify.request import VerifyRequest

from .corpus import NATIVE, ROOT, source_tree
from .table import table, write_json

REPROS = ROOT / "golden" / "repros"
_SUBJECT = re.compile(
    r"(?P<operator>[\w.:]+).*? \(PyTorch (?P<release>\d+\.\d+\.\d+), (?P<file>\w+\.cpp)\): (?P<symptom>.+)"
)


@dataclass(frozen=True)
class Item:
    """A repro, and the fields of its docstring."""

    repro: Path
    operator: str
    release: str
    file: str
    symptom: str


@dataclass(frozen=True)
class Row:
    """Result of one item."""

    operator: str
    release: str
    file: str
    before: str
    after: str
    verdict: str
    reason: str
    installed: str
    seconds: float
    left_out: int = 0
    """Number of the file's fixes that are not part of the proof."""

    @property
    def proven(self) -> bool:
        return self.verdict == Verdict.PROVEN.value


def main() -> int:
    words = _words()
    items = chosen(found_items(REPROS), words.operators)
    named = {_release_of(tree): tree for tree in words.tree}
    trees = {one: source_tree(one, named.get(release(one))) for one in sorted({item.release for item in items})}
    rows = []
    for number, item in enumerate(items, 1):
        say(f"{number} of {len(items)}: {item.operator}, {item.file}")
        rows.append(replay(item, trees[item.release]))
    say("")
    print(
        f"proven operators: {sum(row.proven for row in rows)} of {len(rows)}, torch {TorchSurroundings().place.version}"
    )
    print(table(table_rows(rows), indent="  "))
    for row in rows:
        if not row.proven:
            print(f"NOT PROVEN {row.operator} ({row.file}): {row.verdict}: {row.reason}")
    place = write_json("proven-operators", words.json, {"operators": [asdict(row) for row in rows]})
    print(f"figures: {place}")
    return 0 if rows and all(row.proven for row in rows) else 1


def found_items(folder: Path) -> list[Item]:
    """Return the repros that name an operator of a PyTorch release, in order of their names."""
    items = (item_of(path, path.read_text()) for path in sorted(folder.glob("*.py")))
    return [item for item in items if item is not None]


def item_of(repro: Path, text: str) -> Item | None:
    """Parse the docstring of a repro. Return None if it names no operator file of a release."""
    found = _SUBJECT.fullmatch((ast.get_docstring(ast.parse(text)) or "").partition("\n")[0])
    return Item(repro, **found.groupdict()) if found else None


def chosen(items: Sequence[Item], operators: Sequence[str]) -> list[Item]:
    """Return the items named by operator or by script, or all if nothing is named. Exits for unknown names."""
    unknown = set(operators) - {name for item in items for name in (item.operator, item.repro.stem)}
    if unknown:
        raise SystemExit(f"{', '.join(sorted(unknown))}: no repro names such an operator; see {REPROS}")
    return [item for item in items if not operators or {item.operator, item.repro.stem} & set(operators)]


def replay(item: Item, tree: Path) -> Row:
    """Fix a copy of the item's file and verify it."""
    started = time.monotonic()
    before = (tree / NATIVE / item.file).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, item.file)
        copy.write_bytes(before)
        symfix = [sys.executable, "-m", "symfix.codemods.cli"]
        command: list[str | Path] = [*symfix, "fix", "--verify", "--allow-dirty", copy]
        kept = Path(folder, "evidence")
        proof: list[str | Path] = ["--repro", item.repro, "--evidence", kept]
        fixed = subprocess.run([*command, *proof], capture_output=True, text=True, check=False)
        if fixed.returncode not in (0, 1):
            said = [line for line in fixed.stderr.splitlines() if " is not kept: " in line]
            return _row(item, started, "not fixed", (said or fixed.stderr.strip().splitlines() or [""])[0])
        request = VerifyRequest((Change(copy, before, copy.read_bytes()),), repros=(item.repro,))
        # The fix above stored its evidence: this reads the result and runs nothing again.
        answer = verify(request, VerifySession(evidence_folder=kept))
    left_out = fixed.stderr.count(" is not kept: ")
    if not answer.checks:
        return _row(item, started, answer.verdict.value, answer.reason, left_out=left_out)
    check = next(check for check in answer.checks if check.protocol == "repro")
    installed = "" if check.reference is None else symptom(check.reference)
    seen = symptom(check.before), symptom(check.after)
    return _row(item, started, answer.verdict.value, answer.reason, seen, installed, left_out)


def _row(
    item: Item,
    started: float,
    verdict: str,
    reason: str,
    seen: tuple[str, str] = ("", ""),
    installed: str = "",
    left_out: int = 0,
) -> Row:
    seconds = round(time.monotonic() - started, 1)
    return Row(item.operator, item.release, item.file, *seen, verdict, reason, installed, seconds, left_out)


def symptom(seen: Observation) -> str:
    """Summarize a run: a throw, a pinned size that caused a recompilation, a pass, or the start of its message."""
    if seen.passed:
        return "passes"
    if pinned := re.search(r"tensor '(\S+)' size mismatch at index (\d+)", seen.message):
        return f"pins size {pinned[2]} of {pinned[1]}"
    if seen.message.startswith("RecompileError"):
        return "recompiles"
    if thrown := re.search(r"Cannot call (\w+\(\))", seen.message):
        return f"{thrown[1]} throws"
    return " ".join(seen.message.split()[:6]) or "fails"


def table_rows(rows: Iterable[Row]) -> list[tuple[object, ...]]:
    """Return the table with its head."""
    columns = {
        "operator": "operator",
        "PyTorch": "release",
        "file": "file",
        "before": "before",
        "after": "after",
        "verdict": "verdict",
        "left out": "left_out",
        "seconds": "seconds",
        "as installed": "installed",
    }
    return [tuple(columns), *(tuple(getattr(row, name) for name in columns.values()) for row in rows)]


def _release_of(tree: Path) -> tuple[int, int]:
    try:
        return release((tree / "version.txt").read_text())
    except (OSError, ValueError) as error:
        raise SystemExit(f"{tree}: no PyTorch source tree: {error}") from None


def say(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/proven-operators", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("operators", nargs="*", metavar="OPERATOR", help="only these, by operator or by repro")
    parser.add_argument(
        "--tree", type=Path, action="append", default=[], help="a PyTorch source tree (default: scripts/corpus)"
    )
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
