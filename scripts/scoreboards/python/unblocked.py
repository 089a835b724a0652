"""Operators that fail PyTorch's own unbacked test and pass it with the tool's fixes, with results equal to eager.

Protocol. The operators are those that the installed torch expects to fail (``ops_dde_xfail``). ``--all`` takes every
OpInfo to find regressions too. Each runs twice in a child process, with the installed torch and with the changed
modules in place of its own. site-packages is never written. For every sample (float32, CPU) all dimensions of at least
2 are marked unbacked, with ``torch.compile(backend="eager", fullgraph=True)``. The result is compared with eager, which
PyTorch's test does not do.

An operator that newly passes is then called at sizes 0, 1 and larger through the same compiled code. If a result
differs from eager's, or a larger size is not covered, it *deviates* and does not count as proven.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from symfix.codemods.model.outcome import Changed

from scoreboards.table import table, write_json

from .engine import python_files, rewritten, site_packages

FILES = (
    "torch/_meta_registrations.py",
    "torch/_refs/__init__.py",
    "torch/_decomp/decompositions.py",
    "torch/masked/_ops.py",
)
Answers = dict[str, dict[str, Any]]


def main() -> int:
    words = _words()
    with tempfile.TemporaryDirectory(prefix="symfix-unblocked-") as name:
        folder = Path(name)
        modules, fixes = changed_modules(folder, words.files or FILES)
        runs = [start(folder, label, laid, words) for label, laid in (("before", {}), ("after", modules))]
        for run in runs:
            run.wait()
        before, after = answers(folder / "before.jsonl"), answers(folder / "after.jsonl")
    gained = [name for name in after if after[name]["verdict"] == "passed" and before[name]["verdict"] == "failed"]
    lost = [name for name in after if before[name]["verdict"] == "passed" and after[name]["verdict"] != "passed"]
    print(f"{fixes} fixes in {len(modules)} modules; {len(after)} operators run before and after")
    print(table((name, before[name]["line"] or before[name]["words"][:80]) for name in gained))
    deviating = [name for name in gained if after[name]["deviations"]]
    print(f"newly passing, equal to eager: {len(gained)}")
    print(f"of these proven, the same at sizes 0, 1 and larger too: {len(gained) - len(deviating)}")
    print(table((name, said) for name in deviating for said in after[name]["deviations"]))
    print(f"passing before and not after: {len(lost)} {' '.join(lost)}")
    document = {"gained": gained, "lost": lost, "deviating": deviating, "before": before, "after": after}
    print(f"figures: {write_json('unblocked-python', words.json, document)}")
    return 1 if lost else 0


def changed_modules(folder: Path, files: tuple[str, ...]) -> tuple[dict[str, str], int]:
    """Write the tool's versions below ``folder``. Return the file of each module, and the number of fixes."""
    modules: dict[str, str] = {}
    fixes = 0
    for file in python_files(site_packages()) if files == ("torch",) else files:
        outcome = rewritten(site_packages(), file, unsafe=True)
        if isinstance(outcome, Changed):
            place = folder / "after" / file
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(outcome.after)
            modules[".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")] = str(place)
            fixes += len(outcome.applied)
    return modules, fixes


def start(folder: Path, label: str, modules: dict[str, str], words: argparse.Namespace) -> subprocess.Popen[bytes]:
    """Start a child that runs the operators."""
    request = {
        "modules": modules,
        "report": str(folder / f"{label}.jsonl"),
        "operators": words.only,
        "all": words.all,
        "patience": words.patience,
        "probe": bool(modules),
    }
    asked = folder / f"{label}.json"
    asked.write_text(json.dumps(request))
    command = [sys.executable, "-m", "scoreboards.python.tracing", str(asked)]
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=surroundings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def answers(report: Path) -> Answers:
    """Return the child's result for each operator. Exits if the child died before the first one."""
    if not report.exists():
        raise SystemExit(f"the child died before its first operator: run it by hand on {report.with_suffix('.json')}")
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    return {line.pop("operator"): line for line in lines}


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/unblocked-python", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", help="files below site-packages, or `torch` for all (default: four)")
    parser.add_argument("--only", action="append", default=[], metavar="OP", help="this operator (repeatable)")
    parser.add_argument("--all", action="store_true", help="every OpInfo, not only those expected to fail")
    parser.add_argument("--patience", type=int, default=300, help="seconds that one operator may take")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    words = parser.parse_args()
    words.files = tuple(words.files)
    return words


if __name__ == "__main__":
    sys.exit(main())
