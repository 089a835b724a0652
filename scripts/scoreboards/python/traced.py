"""Tracing of torch's own Python before and after all safe fixes: no tracer may lose a call.

One child captures operators, references, modules and distributions by torch's tracers with the unchanged torch, another
with every *safe* fix applied. Captured are the operators, references and modules that run a changed function, and one
of ``--every`` others. Every distribution, and calls of functions without operator tests (`direct`), are captured too.
References are traced only by make_fx and export, like other functions that PyTorch runs on fake tensors. Modules that
are changed, or pass functions to TorchScript, are imported. Losses are captured once more. Changed functions that no
call runs are listed, since they are not tested.
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

from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.model.outcome import Changed
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.choose.changed_functions import changed_functions
from symfix.codemods.verify.choose.function_index import TraceIndex, trace_index
from symfix.codemods.verify.compare.captures import Captures, gained_captures, is_traced, lost_captures

from scoreboards.table import counted, table, write_json

from .engine import python_files, rewritten, site_packages

Ways = dict[tuple[str, str], str]
"""Reasons by call and tracer."""
_CRASHES = 20


@dataclass(frozen=True)
class Changes:
    """Files that the safe fixes change, by module, and the operators that run changed code."""

    modules: dict[str, str]
    operators: tuple[str, ...]
    functions: tuple[tuple[str, str], ...]
    """Changed functions: the file of each, and its name with its first line."""


def main() -> int:
    words = _words()
    with tempfile.TemporaryDirectory(prefix="symfix-traced-") as name:
        folder = Path(name)
        changes = changed(folder, index())
        print(f"{len(changes.modules)} modules changed; {len(changes.operators)} operators run what is changed")
        chosen = words.operators or changes.operators
        runs = running(folder, changes, chosen)
        also = sorted(call for call, ran in runs.items() if ran)
        asked = {"operators": chosen, "every": words.every, "also": also, "imports": imports(changes), "only": []}
        before, after = captured(folder, changes, asked)
        lost = losses(before, after)
        if lost:
            again = captured(folder, changes, {**asked, "only": sorted({call for call, _ in lost})})
            lost = {way: reason for way, reason in losses(*again).items() if way in lost}
    gained = gains(before, after)
    report(before, after, lost, gained)
    unreached = sorted({*changes.functions} - {function for ran in runs.values() for function in ran})
    reached = len(changes.functions) - len(unreached)
    print(f"{reached} of {len(changes.functions)} changed functions run; not: {_named(unreached)}")
    document = {
        "unreached": unreached,
        "before": before,
        "after": after,
        "lost": _listed(lost),
        "gained": _listed(gained),
    }
    print(f"figures: {write_json('traced-torch', words.json, document)}")
    return 1 if lost else 0


def index() -> TraceIndex:
    """Return the index of operators by the functions of the installed torch that they run."""
    place = locate(None, None)
    with scratch_folder() as scratch:
        return trace_index(Harness(place.python, scratch, Limits()), place)


def changed(folder: Path, ran: TraceIndex) -> Changes:
    """Write every changed file below a folder."""
    top = site_packages()
    modules: dict[str, str] = {}
    operators: dict[str, None] = {}
    functions: list[tuple[str, str]] = []
    for file in python_files(top):
        outcome = rewritten(top, file, unsafe=False)
        if not isinstance(outcome, Changed):
            continue
        place = folder / "after" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(outcome.after)
        modules[".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")] = str(place)
        for function in changed_functions((top / file).read_bytes(), outcome.after):
            operators |= dict.fromkeys(ran.running(file, function))
            functions.append((file, function.key))
    return Changes(modules, tuple(sorted(operators)), tuple(functions))


def imports(changes: Changes) -> list[str]:
    """Return the changed modules, and those of torch that pass functions to TorchScript, which they do on import."""
    top = site_packages()
    found = dict.fromkeys(changes.modules)
    for path in sorted((top / "torch").rglob("*.py")):
        if path.stem != "__main__" and b"jit.script" in path.read_bytes():
            found[".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__")] = None
    return list(found)


def running(folder: Path, changes: Changes, operators: Iterable[str]) -> dict[str, list[tuple[str, str]]]:
    """Return the changed functions that each call runs."""
    asked = {"operators": list(operators), "functions": changes.functions, "only": []}
    found = _side(folder, "running", {}, asked, "running")
    return {call: [(file, key) for file, key in ran] for call, ran in found.items()}


def captured(folder: Path, changes: Changes, asked: Mapping[str, Any]) -> tuple[dict[str, Captures], ...]:
    """Capture every call before and after, by two parallel processes."""
    labelled: list[tuple[str, dict[str, str]]] = [("before", {}), ("after", changes.modules)]
    with ThreadPoolExecutor(len(labelled)) as pool:
        return tuple(pool.map(lambda one: _side(folder, one[0], one[1], asked), labelled))


def _side(
    folder: Path, label: str, modules: dict[str, str], asked: Mapping[str, Any], child: str = "capturing"
) -> dict[str, Any]:
    """Run a child over all calls and return its results.

    A call that kills the child gets an empty result, and another child continues after it.
    """
    answers = folder / f"{label}{'-again' if asked['only'] else ''}.jsonl"
    answers.touch()
    found: dict[str, Any] = {}
    for _ in range(_CRASHES):
        request = folder / f"{label}.json"
        request.write_text(json.dumps({**asked, "modules": modules, "report": str(answers), "done": list(found)}))
        ended = _run(request, child)
        lines = [json.loads(line) for line in answers.read_text().splitlines()]
        found = {line["call"]: line.get("captures", {}) for line in lines}
        if not ended.returncode:
            return found
        if not lines or "captures" in lines[-1]:
            break
    raise SystemExit(f"the child with torch {label} died:\n{ended.stderr[-2000:]}")


def _run(request: Path, child: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"scoreboards.python.{child}", str(request)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def losses(before: Mapping[str, Captures], after: Mapping[str, Captures]) -> Ways:
    """Return the calls that a tracer accepted before and not after, or for fewer sizes. A crash loses all tracers."""
    found: Ways = {}
    for call, captures in before.items():
        now = after.get(call) or {
            tracer: {**one, "error": "the call is gone, or kills the process"} for tracer, one in captures.items()
        }
        found |= {(call, tracer): reason for tracer, reason in lost_captures(captures, now).items()}
    return found


def gains(before: Mapping[str, Captures], after: Mapping[str, Captures]) -> Ways:
    """Return the calls that a tracer rejected before and accepts now, with the error before."""
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
    kinds = Counter(call.partition(":")[0] for call, captures in before.items() if is_traced(captures))
    print(f"{kinds.total()} calls captured: {', '.join(f'{count} {kind}' for count, kind in counted(kinds))}")
    print(table([("tracer", "before", "after", "lost", "gained"), *rows]))
    for title, ways in (("lost", lost), ("gained", gained)):
        for (call, tracer), reason in sorted(ways.items()):
            print(f"{title}: {call} by {tracer}: {reason}")


def _named(functions: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{file}:{key.rpartition(':')[0]}" for file, key in functions) or "none"


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
