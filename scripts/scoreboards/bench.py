"""Running time of symfix, compared with the interpreter, the compiler and other installed tools."""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from symfix.codemods.engine.registry import Registry
from symfix.codemods.harness.fork_server import forking
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.system.cache_folder import LAYOUT
from symfix.codemods.torchapi.torch_finder import TorchInstallation, locate
from symfix.codemods.verify.build.toolchain import CompilerMissing, find_toolchain
from symfix.codemods.workflows.repair.trials import try_all

from .corpus import ROOT, source_tree
from .table import table, write_json

OPERATOR = Path("aten", "src", "ATen", "native", "LossNLL.cpp")
Command = Sequence[str | Path]
_PARSED = "(ast.parse of torch/, one process)"
_PARSE_ALL = """
import ast, contextlib, pathlib, sys
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    with contextlib.suppress(SyntaxError):  # torch holds a test file of a later Python
        ast.parse(path.read_bytes())
"""


@dataclass(frozen=True)
class Row:
    """Medians in seconds. ``must`` is the limit, if there is one. ``unit`` names the row for normalization."""

    what: str
    wall: float
    cpu: float
    must: float | None = None
    unit: str = ""


class Bench:
    """Runner of commands with a separate cache folder, which contains the schemas and no results."""

    def __init__(self, runs: int, scratch: Path) -> None:
        self._runs = runs
        # The second run of symfix usually finds compiled modules.
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._environment = {**inherited, "XDG_CACHE_HOME": str(scratch / "cache")}
        self._results = scratch / "cache" / "symfix" / LAYOUT / "results"

    def prime(self, command: Command) -> None:
        """Run the command once to fill the caches."""
        self._run(command)

    def measure(
        self, what: str, command: Command, *, must: float | None = None, cold: bool = False, unit: str = ""
    ) -> Row:
        """Measure the medians of several runs. With ``cold`` the cached results of files are deleted before each."""
        row = self._median(what, lambda: self._run(command), must, self._forget if cold else lambda: None)
        return replace(row, unit=unit)

    def timed(self, what: str, run: Callable[[], None]) -> Row:
        """Measure the medians of a call."""
        return self._median(what, run, None, lambda: None)

    def _median(self, what: str, run: Callable[[], None], must: float | None, before: Callable[[], None]) -> Row:
        walls, cpus = [], []
        for _ in range(self._runs):
            before()
            started, used = time.perf_counter(), _children_cpu()
            run()
            walls.append(time.perf_counter() - started)
            cpus.append(_children_cpu() - used)
        return Row(what, statistics.median(walls), statistics.median(cpus), must)

    def _run(self, command: Command) -> None:
        ended = subprocess.run([str(word) for word in command], capture_output=True, env=self._environment, check=False)
        if ended.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(map(str, command))}\n{ended.stderr.decode(errors='replace')}")

    def _forget(self) -> None:
        """Delete the cached results of files. Raises FileNotFoundError if no earlier run wrote any."""
        shutil.rmtree(self._results)


def rows(bench: Bench, tree: Path, scratch: Path) -> Iterator[Row]:
    """Yield the rows of the table in docs/results/README.md."""
    symfix = Path(sys.executable).with_name("symfix")
    place = locate(None, None)
    start = bench.measure("python -c pass", [sys.executable, "-c", "pass"])
    yield start
    yield bench.measure("symfix --help", [symfix, "--help"], must=start.wall + 0.15)

    python_rules = ",".join(card.name for card in Registry().rules if card.wing == "symfix.python")
    check: list[str | Path] = [symfix, "check", "--statistics"]
    folders: Mapping[str, Command] = {
        "torch/, Python": [*check, "--select", python_rules, place.package],
        "ATen": [*check, "--torch-root", tree, tree / "aten" / "src" / "ATen"],
    }
    for (name, command), cold in zip(folders.items(), (4.0, 2.0), strict=True):
        bench.prime(command)
        unit = _PARSED if name.startswith("torch/") else ""
        yield bench.measure(f"check {name}, cold", command, must=cold, cold=True, unit=unit)
        yield bench.measure(f"check {name}, warm", command, must=0.15, unit=unit)
    yield bench.measure(_PARSED, [sys.executable, "-c", _PARSE_ALL, place.package])
    yield from _growth(bench, [*check, "--select", python_rules], place.package, scratch)
    yield from _trials(bench, place)
    module = place.package / "_meta_registrations.py"
    yield bench.measure(f"diff {module.name}", [symfix, "diff", module], must=2.5, cold=True)
    operator: Command = [symfix, "diff", "--torch-root", tree, tree / OPERATOR]
    yield bench.measure(f"diff {OPERATOR.name}", operator, must=1.5, cold=True)
    yield from _peers(bench, place.package)
    try:
        toolchain = find_toolchain(place)
    except CompilerMissing as missing:
        print(missing, file=sys.stderr)
        return
    compiler = toolchain.compiler.name
    own = toolchain.compile_command(tree / OPERATOR, scratch / "operator.o")
    # g++ is the usual compiler, so it is the unit even if symfix uses clang.
    plain = [shutil.which("g++") or own[0], *own[1:]]
    compiled = f"{Path(plain[0]).name} -c {OPERATOR.name}"
    yield bench.measure(compiled, plain)
    yield bench.measure(f"{compiled}, twice", ["sh", "-c", _twice(plain)])
    if own[0] != plain[0]:
        yield bench.measure(f"{compiler} -c {OPERATOR.name}", own, unit=compiled)
    step: Command = [sys.executable, "-m", "scoreboards.verifying"]
    if shutil.which("ninja"):
        yield bench.measure(f"cpp_extension.load {OPERATOR.name}", [*step, "load", tree], unit=compiled)
    fast = compiler.startswith("clang")
    yield bench.measure("torch's headers precompiled", [*step, "precompile", tree], must=8.0 if fast else 20.0)
    yield bench.measure(f"compile {OPERATOR.name}", [*step, "compile", tree], must=1.2 if fast else 2.5, unit=compiled)
    swap = [*step, "swap", tree]
    yield bench.measure("compile, link, load, one script", swap, must=5.0 if fast else 8.0, unit=compiled)
    eight = [*step, "eight", tree]
    bar = 8.0 if fast else 20.0
    yield bench.measure("eight files before and after, in place", eight, must=bar, unit=compiled)
    verify = _verify_a_copy(symfix, tree, scratch)
    nothing_known: Command = ["sh", "-c", f"rm -rf '{scratch}/cache'/* && {verify}"]
    yield bench.measure(f"fix --verify {OPERATOR.name}, the first on a machine", nothing_known, unit=compiled)
    bar = 6.0 if fast else 15.0
    yield bench.measure(
        f"fix --verify {OPERATOR.name}, later", ["sh", "-c", verify], must=bar, cold=True, unit=compiled
    )


def _growth(bench: Bench, check: Command, package: Path, scratch: Path) -> Iterator[Row]:
    """Yield the times for an eighth, a quarter and half of torch's files. The time per byte must not grow."""
    files = sorted(package.rglob("*.py"))
    for every in (8, 4, 2):
        part = scratch / f"every-{every}" / package.name
        for file in files[::every]:
            target = part / file.relative_to(package)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        size = sum(file.stat().st_size for file in files[::every]) / 1e6
        bench.prime([*check, part])
        yield bench.measure(f"check {size:.1f} MB of torch/, Python, cold", [*check, part], cold=True)


def _trials(bench: Bench, place: TorchInstallation) -> Iterator[Row]:
    """Yield the times of a trial in a separate process and in a fork, for an operator that fails immediately."""
    with scratch_folder() as scratch:
        laboratory = Harness(place.python, scratch, Limits())
        with forking(laboratory, 1) as quick:
            for how, where in (("in a process of its own", laboratory), ("forked", quick)):

                def ask(where: Harness = where) -> None:
                    try_all(where, Variant("installed"), {"roll": 0}, 1, 1)

                ask()  # the first fork waits until torch is there
                yield bench.timed(f"one trial, {how}", ask)


def _twice(command: Command) -> str:
    words = " ".join(f"'{word}'" for word in command)
    return f"{words} & {words.replace('operator.o', 'other.o')}; wait"


def _verify_a_copy(symfix: Path, tree: Path, scratch: Path) -> str:
    """Build a command that verifies a fresh copy of the file without stored objects or evidence."""
    repro = ROOT / "golden" / "repros" / "cross_entropy.py"
    copy = scratch / OPERATOR.name
    return (
        f"rm -rf '{scratch}/evidence' '{scratch}/cache/symfix/{LAYOUT}/objects' && cp '{tree / OPERATOR}' '{copy}' && "
        f"'{symfix}' fix --verify --allow-dirty --evidence '{scratch}/evidence' --repro '{repro}' "
        f"--torch-root '{tree}' '{copy}'"
    )


def _peers(bench: Bench, package: Path) -> Iterator[Row]:
    ruff = Path(sys.executable).with_name("ruff")
    if ruff.exists():
        yield bench.measure(
            "(ruff check torch/, cold)", [ruff, "check", "--quiet", "--no-cache", "--exit-zero", package]
        )


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, print, and write the figures as JSON."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--tree", type=Path, help="a PyTorch source tree [the one scripts/corpus brings]")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command, of which the median counts [3]")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    words = parser.parse_args()
    tree = source_tree("2.6.0", words.tree)
    with tempfile.TemporaryDirectory() as folder:
        measured = []
        for row in rows(Bench(words.runs, Path(folder)), tree, Path(folder)):
            print(f"{row.wall:8.2f} {row.cpu:8.2f}  {row.what}", file=sys.stderr, flush=True)
            measured.append(row)
    walls = {row.what: row.wall for row in measured}
    print(table([("", "wall s", "cpu s", "must", "units"), *(_cells(row, walls) for row in measured)]))
    write_json("bench", words.json, {"runs": words.runs, "rows": [asdict(row) for row in measured]})


def _cells(row: Row, walls: Mapping[str, float]) -> tuple[str, ...]:
    """Return the cells of a row. ``units`` is its wall time divided by that of its unit."""
    units = f"{row.wall / walls[row.unit]:.2f}" if row.unit else ""
    return row.what, f"{row.wall:.2f}", f"{row.cpu:.2f}", "" if row.must is None else f"{row.must:.2f}", units


if __name__ == "__main__":
    main()
