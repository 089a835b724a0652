"""Shared code of the repair scoreboards: one run of `symfix repair --all`, its table, and its options."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from symfix.codemods.harness.opinfo_runner import OPERATORS, UNBACKED
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.workflows.hunt.failure import MEANING, Mode
from symfix.codemods.workflows.pull_requests.regression.pr_test import CachedAdditions, RegressionBuilder
from symfix.codemods.workflows.repair.folder import figures, write
from symfix.codemods.workflows.repair.procedure import RepairRequest, repair
from symfix.codemods.workflows.repair.result import RepairOutcome

from .corpus import source_tree
from .table import table, write_json

_RELEASE = "2.12.1"
"""The newest release before the installed torch whose C++ sources scripts/corpus brings."""
_DEAREST = 12


def score(board: str, description: str | None, kind: str = OPERATORS, protocol: str = UNBACKED) -> int:
    """Repair all failures of a kind and protocol, print the table, write patches and figures. Return the exit code."""
    words = _words(board, description, kind, protocol)
    root = None if words.python_only else source_tree(_RELEASE, words.tree)
    started = time.monotonic()
    wanted = RepairRequest(tuple(words.names) or None, kind, protocol, root, jobs=words.jobs, fresh=words.fresh)
    with scratch_folder() as scratch:
        added = None
        if (kind, protocol) == (OPERATORS, UNBACKED):
            workplace = RegressionBuilder(locate(None, None), scratch, root, None, words.jobs)
            added = CachedAdditions(workplace, lambda text: say(text, started))
        outcome = repair(wanted, scratch, lambda text: say(text, started), proven=added.make if added else None)
        if added:
            with outcome.timing.phase("regression tests of proofs made before"):
                judged = added.complete(outcome.repairs)
            outcome = replace(outcome, repairs=tuple(judged))
    outcome = replace(outcome, seconds=round(time.monotonic() - started, 1))
    write(outcome, words.output, [added] if added else [])
    for line in lines(board, outcome):
        print(line)
    print(f"minutes: {outcome.seconds / 60:.0f}; patches, evidence and what is left: {words.output}")
    print(f"figures: {write_json(board, words.json, figures(outcome))}")
    return 1 if outcome.regressions else 0


def lines(board: str, outcome: RepairOutcome) -> Iterator[str]:
    """Yield the table: proven by mode and language, unrepaired by reason, and regressions."""
    counts = figures(outcome)
    title = board.replace("-", " ")
    yield f"{title}: {counts['proven']} of {counts['failing']} proven fixed, torch {outcome.torch.split()[0]}"
    language = {name: one.language for one in outcome.repairs if one.proven for name in one.operators}
    cells = Counter((outcome.modes[name], language[name]) for name in outcome.mended)
    rows: list[tuple[object, ...]] = [("mode", "", "failing", "Python", "C++")]
    for mode in sorted(set(outcome.modes.values())):
        failing = sum(other == mode for other in outcome.modes.values())
        rows.append((mode, MEANING[Mode(mode)], failing, cells[mode, "Python"], cells[mode, "C++"]))
    rows.append(
        ("all", "", counts["failing"], *(sum(cells[m, k] for m, k in cells if k == one) for one in ("Python", "C++")))
    )
    yield table(rows, indent="  ")
    yield "minutes, by phase:"
    yield table(((f"{seconds / 60:.1f}", name) for name, seconds in counts["phases"].items()), indent="  ")
    dearest = list(counts["operators"].items())[:_DEAREST]
    yield f"minutes of processor time in trials, the dearest {len(dearest)} of {len(counts['operators'])} operators:"
    yield table(((f"{seconds / 60:.1f}", name) for name, seconds in dearest), indent="  ")
    yield "left, by reason:"
    yield table(sorted(((count, reason) for reason, count in counts["left"].items()), reverse=True), indent="  ")
    yield f"regressions: {len(outcome.regressions)} ({outcome.compared} operators compared on concrete sizes)"
    yield from (f"  {one}" for one in outcome.regressions)


def say(text: str, started: float) -> None:
    print(f"{(time.monotonic() - started) / 60:6.1f} min  {text}", file=sys.stderr, flush=True)


def _words(board: str, description: str | None, kind: str, protocol: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=f"scripts/{board}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = Path("symfix-repairs" if (kind, protocol) == (OPERATORS, UNBACKED) else f"symfix-{board}")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"only these {kind} (default: all that fail)")
    parser.add_argument("--tree", type=Path, help=f"PyTorch {_RELEASE}'s sources (default: scripts/corpus)")
    parser.add_argument("--python-only", action="store_true", help="no C++")
    parser.add_argument("--output", type=Path, default=folder, help=f"where the patches go [{folder}]")
    parser.add_argument("--jobs", type=int, default=2, help="children and compilers at a time")
    parser.add_argument("--fresh", action="store_true", help="from nothing: forget what earlier runs found out")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()
