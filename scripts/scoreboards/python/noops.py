"""Changes of the Python rules to the installed torch's own Python, and a test that safe fixes change no behaviour.

Counts fixes and skips by rule over every Python file of the installed torch. ``--sample N`` draws N of the fixes
reproducibly and prints a reader's verdicts on them (judged.md beside this module). ``--write`` updates that page.

``--behave N`` applies every *safe* fix to copies that replace torch's modules in a child process. It compares about N
operators with the unchanged torch, references in Python first, then OpInfos. Values, dtypes, shapes and the text of
every error are compared bit for bit. Operators with nondeterministic results are skipped and listed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from symfix.codemods.model.outcome import Changed, Refused, Unchanged
from symfix.codemods.model.rule import Fix, Safety

from scoreboards.table import counted, table, write_json

from .engine import python_files, rewritten, site_packages
from .judging import Proposal, drawn, report

Outcome = Changed | Unchanged | Refused


def main() -> int:
    words = _words()
    top = site_packages()
    outcomes = [(file, rewritten(top, file, unsafe=False)) for file in python_files(top)]
    fixes = [(file, outcome, fix) for file, outcome in outcomes for fix in _fixes(outcome)]
    rules = sorted({fix.rule for _, _, fix in fixes})
    by_rule = Counter((fix.rule, fix.safety) for _, _, fix in fixes)
    print(f"{len(outcomes)} files of torch in which a rule may have something to say")
    rows = [(rule, by_rule[rule, Safety.SAFE], by_rule[rule, Safety.UNSAFE]) for rule in rules]
    total = [sum(row[column] for row in rows) for column in (1, 2)]  # type: ignore[misc]
    print(table([("rule", "safe", "unsafe"), *rows, ("all", *total)]))
    skips = Counter(
        skip.reason for _, outcome in outcomes if not isinstance(outcome, Refused) for skip in outcome.skips
    )
    print("skipped: " + ", ".join(f"{reason} {count}" for count, reason in counted(skips)))
    count = report("No-ops", drawn(proposals(outcomes), words.sample), write=words.write) if words.sample else {}
    document = {"rules": rows, "skips": dict(skips), "judged": dict(count)}
    same = True
    if words.behave:
        same = behave(outcomes, words.behave)
    print(f"figures: {write_json('python-noops', words.json, document)}")
    return 0 if same else 1


def behave(outcomes: list[tuple[str, Outcome]], count: int) -> bool:
    """Return whether torch with all safe fixes has the same results and errors as torch without them."""
    with tempfile.TemporaryDirectory(prefix="symfix-noops-") as name:
        folder = Path(name)
        modules: dict[str, str] = {}
        for file, outcome in outcomes:
            if isinstance(outcome, Changed):
                place = folder / "after" / file
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(outcome.after)
                modules[".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")] = str(place)
        asked = {"before": {}, "again": {}, "after": modules}
        seen = {label: _digests(folder, label, laid, count) for label, laid in asked.items()}
    unstable = [name for name, said in seen["before"].items() if seen["again"].get(name) != said]
    stable = [name for name in seen["before"] if name not in unstable]
    other = [name for name in stable if seen["after"].get(name) != seen["before"][name]]
    print(f"{len(modules)} modules with all safe fixes laid over torch: {len(stable)} operators compared")
    print(f"another result or error: {len(other)} {' '.join(other)}")
    print(f"left out, since they do not repeat themselves: {len(unstable)} {' '.join(unstable)}")
    return not other


def _digests(folder: Path, label: str, modules: dict[str, str], count: int) -> dict[str, object]:
    report = folder / f"{label}.jsonl"
    asked = folder / f"{label}.json"
    asked.write_text(json.dumps({"modules": modules, "report": str(report), "count": count}))
    command = [sys.executable, "-m", "scoreboards.python.behaving", str(asked)]
    ended = subprocess.run(
        command, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        raise SystemExit(f"the child with torch {label} died:\n{ended.stderr[-2000:]}")
    lines = [json.loads(line) for line in report.read_text().splitlines()]
    return {line.pop("operator"): line for line in lines}


def _fixes(outcome: Outcome) -> Iterator[Fix]:
    """Yield all fixes that were applied or are offered."""
    if isinstance(outcome, Changed):
        yield from outcome.applied
    if not isinstance(outcome, Refused):
        yield from outcome.offered


def proposals(outcomes: Iterable[tuple[str, Outcome]]) -> Iterator[Proposal]:
    """Yield every fix as a proposal for a reader."""
    for file, outcome in outcomes:
        for fix in _fixes(outcome):
            assert not isinstance(outcome, Refused)
            quoted = _QUOTED.search(fix.message)
            words = quoted[1] if quoted else fix.message
            place = f"{file}:{outcome.source.line_column(fix.start)[0]}"
            yield Proposal(place, fix.function or "", words, fix.rule)


_QUOTED = re.compile("`(.*)`")


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/python-noops", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=0, help="draw so many of the fixes")
    parser.add_argument("--write", action="store_true", help="write the draw to judged.md beside this module")
    parser.add_argument("--behave", type=int, default=0, metavar="N", help="compare about N operators")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
