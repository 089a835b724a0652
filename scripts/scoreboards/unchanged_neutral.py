"""Unchanged files: false alarms of the verifier.

Protocol. Operator files of a PyTorch release that compile against the installed torch are swapped in unchanged, and
compared with the installed torch. Operators that reach their composite kernels run on concrete sizes, with backed and
with unbacked sizes. The verdict has to be `neutral`. Differences are printed. Each is a false alarm, or a real
difference between the two releases, which needs a person's judgement.

Files with many kernels in few lines come first, until there are enough files and kernels. Results of an interrupted run
are reused, unless --fresh. Exit code: 0 when enough kernels were called and all files are neutral, 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.torchapi import TorchApi
from symfix.codemods.verify.build.kernel_shim import candidates
from symfix.codemods.verify.change import Change, Verdict
from symfix.codemods.verify.command import VerifySession, verify
from symfix.codemods.verify.request import VerifyRequest

from .corpus import operator_files, source_tree
from .table import table, write_json

FILES, KERNELS, SAMPLES = 15, 40, 6


@dataclass(frozen=True)
class Row:
    """Result of one file. ``called`` are its kernels that replaced torch's and were called."""

    file: str
    called: tuple[str, ...]
    verdict: str
    reason: str
    operators: int
    compared: int
    seconds: float

    @property
    def counts(self) -> bool:
        return bool(self.called) and self.verdict != Verdict.BROKEN_BASELINE.value


def main() -> int:
    words = _words()
    place = TorchSurroundings().place
    if place is None:
        raise SystemExit("no torch to compare with")
    tree = source_tree(words.release, words.tree)
    rows: list[Row] = []
    for file in [tree / name for name in words.files] or with_composites(tree):
        row = swapped(file, tree, words.samples, words.fresh)
        say(f"{row.file}: {row.verdict}, {len(row.called)} kernels called, {row.seconds} s: {row.reason}")
        rows.append(row)
        if not words.files and enough(rows):
            break
    counted = [row for row in rows if row.counts]
    kernels = sum(len(row.called) for row in counted)
    neutral = [row for row in counted if row.verdict == Verdict.NEUTRAL.value]
    print(
        f"unchanged files: {len(neutral)} of {len(counted)} neutral, {kernels} composite functions called; "
        f"PyTorch {words.release} in torch {place.version}"
    )
    print(table(table_rows(rows), indent="  "))
    for row in counted:
        if row not in neutral:
            print(f"NOT NEUTRAL {row.file}: {row.verdict}: {row.reason}")
    print(f"figures: {write_json('unchanged-neutral', words.json, {'files': [asdict(row) for row in rows]})}")
    return 0 if len(neutral) == len(counted) and (words.files or enough(rows)) else 1


def with_composites(tree: Path) -> Iterator[Path]:
    """Yield the operator files with composite kernels of the installed torch, by their size per kernel."""
    api = TorchApi.load(None, None)
    contents = {file: file.read_bytes() for file in operator_files(tree)}
    kernels = {file: len(candidates(content, api.kernels)) for file, content in contents.items()}
    dense = (file for file, number in kernels.items() if number)
    yield from sorted(dense, key=lambda file: (len(contents[file]) / kernels[file], file.name))


def enough(rows: Sequence[Row]) -> bool:
    """Return whether enough files and kernels were called for the measure."""
    counted = [row for row in rows if row.counts]
    return len(counted) >= FILES and sum(len(row.called) for row in counted) >= KERNELS


def swapped(file: Path, tree: Path, samples: int, fresh: bool) -> Row:
    """Swap one unchanged file in and verify it."""
    started = time.monotonic()
    content = file.read_bytes()
    request = VerifyRequest((Change(file, content, content),), against_installed=True, samples=samples)
    answer = verify(request, VerifySession(torch_root=tree, fresh=fresh))
    called = tuple(sorted({swap.kernel for swap in answer.swaps if swap.swapped and swap.calls}))
    operators = len({check.subject.partition(" ")[0] for check in answer.checks})
    compared = len(answer.checks)
    seconds = round(time.monotonic() - started, 1)
    return Row(file.name, called, answer.verdict.value, answer.reason, operators, compared, seconds)


def table_rows(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    """Return the table with its head."""
    head = ("file", "kernels called", "operators", "checks", "verdict", "seconds")
    return [head, *((r.file, len(r.called), r.operators, r.compared, r.verdict, r.seconds) for r in rows)]


def say(text: str) -> None:
    """Print progress on stderr."""
    print(text, file=sys.stderr, flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/unchanged-neutral", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="only these, from the top of the tree")
    parser.add_argument("--release", default="2.6.0", help="the release whose files are swapped in (default: 2.6.0)")
    parser.add_argument("--tree", type=Path, help="its source tree (default: scripts/corpus)")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="how many inputs of an operator are traced")
    parser.add_argument("--fresh", action="store_true", help="use nothing that was found before")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
