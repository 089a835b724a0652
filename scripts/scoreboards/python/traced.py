"""Whatever torch traces of its own Python it traces with all safe fixes laid over it.

One child captures operators, references, modules and distributions by torch's tracers with torch as it is, another with
every *safe* fix laid over it. Captured are the operators that run a changed function, with their references, and one of
``--every`` others. References are traced by make_fx and export only, as fakes are. What is lost is captured once more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symfix.codemods.engine.outcome import Changed
from symfix.codemods.lab.isolation import Limits
from symfix.codemods.lab.scratch import scratch_folder
from symfix.codemods.lab.variants import Laboratory
from symfix.codemods.torchapi.locating import locate
from symfix.codemods.verify.choose.reaching import changed_functions
from symfix.codemods.verify.choose.tracing import TraceIndex, trace_index
from symfix.codemods.verify.compare.captures import Captures, gained_captures, lost_captures

from scoreboards.table import counted, table, write_json

from .engine import python_files, rewritten, site_packages

Ways = dict[tuple[str, str], str]
"""A reason for each call and tracer."""
_CRASHES = 20


@dataclass(frozen=True)
class Changes:
    """The files that the safe fixes change: their modules, and the operators that run what is changed."""

    modules: dict[str, str]
    operators: tuple[str, ...]


def main() -> int:
    words = _words()
    with tempfile.TemporaryDirectory(prefix="symfix-traced-") as name:
        folder = Path(name)
        changes = changed(folder, index())
        print(f"{len(changes.modules)} modules changed; {len(changes.operators)} operators run what is changed")
        asked = {"operators": words.operators or changes.operators, "every": words.every, "only": []}
        before, after = captured(folder, changes, asked)
        lost = losses(before, after)
        if lost:
            again = captured(folder, changes, {**asked, "only": sorted({call for call, _ in lost})})
            lost = {way: reason for way, reason in losses(*again).items() if way in lost}
    gained = gains(before, after)
    report(before, after, lost, gained)
    document = {"before": before, "after": after, "lost": _listed(lost), "gained": _listed(gained)}
    print(f"figures: {write_json('traced-torch', words.json, document)}")
    return 1 if lost else 0


def index() -> TraceIndex:
    """Which operators run which function of the installed torch."""
    place = locate(None, None)
    with scratch_folder() as scratch:
        return trace_index(Laboratory(place.python, scratch, Limits()), place)


def changed(folder: Path, running: TraceIndex) -> Changes:
    """Write every changed file below a folder."""
    top = site_packages()
    modules: dict[str, str] = {}
    operators: dict[str, None] = {}
    for file in python_files(top):
        outcome = rewritten(top, file, unsafe=False)
        if not isinstance(outcome, Changed):
            continue
        place = folder / "after" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(outcome.after)
        modules[".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")] = str(place)
        for function in changed_functions((top / file).read_bytes(), outcome.after):
            operators |= dict.fromkeys(running.running(file, function))
    return Changes(modules, tuple(sorted(operators)))


def captured(folder: Path, changes: Changes, asked: Mapping[str, Any]) -> tuple[dict[str, Captures], ...]:
    """The captures of every call, before and after, by two processes at once."""
    labelled: list[tuple[str, dict[str, str]]] = [("before", {}), ("after", changes.modules)]
    with ThreadPoolExecutor(len(labelled)) as pool:
        return tuple(pool.map(lambda one: _side(folder, one[0], one[1], asked), labelled))


def _side(folder: Path, label: str, modules: dict[str, str], asked: Mapping[str, Any]) -> dict[str, Captures]:
    """What a child captures; a call that kills it is captured by no tracer, and another child goes on behind it."""
    answers = folder / f"{label}{'-again' if asked['only'] else ''}.jsonl"
    answers.touch()
    found: dict[str, Captures] = {}
    for _ in range(_CRASHES):
        request = folder / f"{label}.json"
        request.write_text(json.dumps({**asked, "modules": modules, "report": str(answers), "done": list(found)}))
        ended = _run(request)
        lines = [json.loads(line) for line in answers.read_text().splitlines()]
        found = {line["call"]: line.get("captures", {}) for line in lines}
        if not ended.returncode:
            return found
        if not lines or "captures" in lines[-1]:
            break
    raise SystemExit(f"the child with torch {label} died:\n{ended.stderr[-2000:]}")


def _run(request: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scoreboards.python.capturing", str(request)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def losses(before: Mapping[str, Captures], after: Mapping[str, Captures]) -> Ways:
    """The calls that a tracer took before and takes no more, or for fewer sizes; a crash loses all of them."""
    found: Ways = {}
    for call, captures in before.items():
        now = after.get(call) or {
            tracer: {**one, "error": "the call is gone, or kills the process"} for tracer, one in captures.items()
        }
        found |= {(call, tracer): reason for tracer, reason in lost_captures(captures, now).items()}
    return found


def gains(before: Mapping[str, Captures], after: Mapping[str, Captures]) -> Ways:
    """The calls that a tracer failed at before and takes now, with what it said before."""
    return {
        (call, tracer): captures[tracer]["error"]
        for call, captures in before.items()
        for tracer in gained_captures(captures, after.get(call, {}))
    }


def report(before: Mapping[str, Captures], after: Mapping[str, Captures], lost: Ways, gained: Ways) -> None:
    """Print the figures by tracer, and each way that is lost or gained."""
    rows = [
        (tracer, *(_taken(side, tracer) for side in (before, after)), _by(lost, tracer), _by(gained, tracer))
        for tracer in dict.fromkeys(tracer for captures in before.values() for tracer in captures)
    ]
    kinds = Counter(call.partition(":")[0] for call in before)
    print(f"{len(before)} calls captured: {', '.join(f'{count} {kind}' for count, kind in counted(kinds))}")
    print(table([("tracer", "before", "after", "lost", "gained"), *rows]))
    for title, ways in (("lost", lost), ("gained", gained)):
        for (call, tracer), reason in sorted(ways.items()):
            print(f"{title}: {call} by {tracer}: {reason}")


def _taken(side: Mapping[str, Captures], tracer: str) -> int:
    return sum(tracer in captures and not captures[tracer]["error"] for captures in side.values())


def _by(ways: Collection[tuple[str, str]], tracer: str) -> int:
    return sum(one == tracer for _, one in ways)


def _listed(ways: Ways) -> Iterable[tuple[str, str, str]]:
    return [(*way, reason) for way, reason in sorted(ways.items())]


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/traced-torch", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("operators", nargs="*", help="these instead of those that run what is changed")
    parser.add_argument("--every", type=int, default=30, metavar="N", help="capture one of N others (0: none)")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
