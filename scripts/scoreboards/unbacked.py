"""The unbacked score: operators that fail PyTorch's own unbacked test, mended and proven by `symfix repair --all`.

Protocol. torch as installed, CPU, float32. Every dimension of 2 or more is marked unbacked and the operator compiled
with `fullgraph=True`; every sample; the result is compared with eager, then the compiled code is called with these
sizes at 0, at 1 and at a larger value. An operator counts when it failed and passes on every sample with the patch of
its repair alone, no size gives another result than eager without an error, and `verify` says proven. C++ is repaired
in the files of PyTorch 2.6.0 as far as they compile against the installed torch: there the unchanged file, swapped in,
must still fail. Then all repairs in Python at once: everything that passed must still pass, and all operators must be
equal on concrete sizes, errors included. Each repair gets its regression test, which fails before and passes after, and
the expected failures that pass with it are removed, each by running; both are in its patch. Without `--fresh` a run
goes on where the last one was.
Exit code: 0 when nothing is worse, 1 otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from symfix.codemods.lab.scratch import scratch_folder
from symfix.codemods.torchapi.locating import locate
from symfix.codemods.workflows.hunt.failure import MEANING, Mode
from symfix.codemods.workflows.regression.additions import Workplace, additions
from symfix.codemods.workflows.repair.folder import figures, write
from symfix.codemods.workflows.repair.procedure import Wanted, repair
from symfix.codemods.workflows.repair.repaired import Outcome

from .corpus import source_tree
from .table import table, write_json


def main() -> int:
    words = _words()
    root = None if words.python_only else source_tree("2.6.0", words.tree)
    started = time.monotonic()
    wanted = Wanted(tuple(words.operators) or None, torch_root=root, jobs=words.jobs, fresh=words.fresh)
    with scratch_folder() as scratch:
        outcome = repair(wanted, scratch, lambda text: say(text, started))
        workplace = Workplace(locate(None, None), scratch, root, None, words.jobs)
        judged, addition = additions(outcome.repairs, workplace, lambda text: say(text, started))
    outcome = replace(outcome, repairs=tuple(judged), seconds=round(time.monotonic() - started, 1))
    write(outcome, words.output, [addition])
    for line in lines(outcome):
        print(line)
    print(f"minutes: {outcome.seconds / 60:.0f}; patches, evidence and what is left: {words.output}")
    print(f"figures: {write_json('unbacked-score', words.json, figures(outcome))}")
    return 1 if outcome.regressions else 0


def lines(outcome: Outcome) -> Iterator[str]:
    """The table: proven by mode and language, left by reason, and what is worse."""
    counts = figures(outcome)
    yield f"unbacked score: {counts['proven']} of {counts['failing']} proven fixed, torch {outcome.torch.split()[0]}"
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
    yield "left, by reason:"
    yield table(sorted(((count, reason) for reason, count in counts["left"].items()), reverse=True), indent="  ")
    yield f"regressions: {len(outcome.regressions)} ({outcome.compared} operators compared on concrete sizes)"
    yield from (f"  {one}" for one in outcome.regressions)


def say(text: str, started: float) -> None:
    print(f"{(time.monotonic() - started) / 60:6.1f} min  {text}", file=sys.stderr, flush=True)


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/unbacked-score", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("operators", nargs="*", metavar="OP", help="only these (default: all that fail)")
    parser.add_argument("--tree", type=Path, help="PyTorch 2.6.0's sources (default: scripts/corpus)")
    parser.add_argument("--python-only", action="store_true", help="no C++")
    parser.add_argument("--output", type=Path, default=Path("symfix-repairs"), help="where the patches go")
    parser.add_argument("--jobs", type=int, default=2, help="children and compilers at a time")
    parser.add_argument("--fresh", action="store_true", help="from nothing: forget what earlier runs found out")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
