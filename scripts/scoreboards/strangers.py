"""Traces of public packages: calls that a tracer of torch accepts before symfix and not after.

Protocol. Each package is downloaded at a pinned version into `.corpus/strangers`. Copies are fixed in three ways: by
default, with the safe fixes of all functions, and with the unsafe ones too. Every target of `strangers_targets.py` is
called eagerly and captured by each tracer (dynamo, export, `make_fx`, TorchScript) from the unchanged package and from
each copy. All dimensions of 2 or more are dynamic.

A way is one tracer that accepts one target. It is lost when the copy fails there, breaks the graph, guards or
specializes more. A copy without a fix is not captured again. `--causes` repeats each loss with the fixes of one rule at
a time. Exit code: 0 when nothing is lost, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from symfix.codemods.harness.children.recorders.captures import TRACERS, Capture
from symfix.codemods.harness.temp_folder import scratch_folder
from symfix.codemods.verify.compare.captures import gained_captures, lost_captures

from .strangers_targets import LIMIT, NEEDED, PACKAGES, names_of
from .table import counted, table, write_json

CORPUS = Path(__file__).resolve().parents[2] / ".corpus" / "strangers"
VARIANTS: Mapping[str, Sequence[str]] = {
    "default": (),
    "safe": ("--all-functions",),
    "all": ("--all-functions", "--unsafe-fixes"),
}
JOBS = 2
Captures = Mapping[str, Mapping[str, Capture]]
"""Captures by target and tracer."""


@dataclass(frozen=True)
class Fixer:
    """The measured symfix: its environment and additional options of `fix`."""

    environment: Mapping[str, str]
    options: Sequence[str]


@dataclass
class Changed:
    """A fixed package: the number of fixes by rule and safety, and their effects on its targets."""

    fixes: Counter[str]
    failed: list[str]
    """Files on which symfix failed."""
    lost: list[dict[str, Any]] = field(default_factory=list)
    gained: list[str] = field(default_factory=list)

    @property
    def breaking(self) -> int:
        """Return the number of ways that only break the graph more often."""
        return sum("graph breaks instead of" in one["why"] for one in self.lost)


@dataclass
class Measured:
    """An unchanged package and its variants."""

    name: str
    before: Captures
    variants: dict[str, Changed] = field(default_factory=dict)

    @property
    def ways(self) -> int:
        """Return the number of pairs of a target and a tracer that accepts it."""
        return sum(not one["error"] for way in self.before.values() for name, one in way.items() if name in TRACERS)

    @property
    def failing(self) -> dict[str, str]:
        """Return the targets that fail in eager mode, each with its error."""
        return {target: way["eager"]["error"] for target, way in self.before.items() if way["eager"]["error"]}


def main() -> int:
    """Measure the packages and print the board."""
    words = _words()
    started = time.monotonic()
    chosen = [words.only] if words.only else sorted(PACKAGES, key=lambda name: -len(names_of(name)))
    roots = [_root(pin, module) for module, pin in {**NEEDED, **PACKAGES}.items()]
    with scratch_folder() as scratch, ThreadPoolExecutor(JOBS) as pool:
        fixer = Fixer(_environment(words.symfix, scratch), words.options.split())
        jobs = [pool.submit(_measured, name, fixer, roots, scratch, words.causes) for name in chosen]
        measured = sorted((job.result() for job in jobs), key=lambda one: one.name)
    for line in board(measured, (time.monotonic() - started) / 60):
        print(line)
    print(f"figures: {write_json('traced-strangers', words.json, _document(measured))}")
    return int(any(one.variants[variant].lost for one in measured for variant in VARIANTS))


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/traced-strangers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=sorted(PACKAGES), metavar="PACKAGE", help="this package, by its import name")
    parser.add_argument(
        "--symfix", type=Path, metavar="DIR", help="a checkout whose symfix writes the fixes [this one]"
    )
    parser.add_argument("--options", default="", metavar="WORDS", help="more words for `symfix fix`")
    parser.add_argument("--causes", action="store_true", help="also say which rule alone loses each way")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    return parser.parse_args()


def _root(pin: str, module: str) -> Path:
    """Return the folder of a downloaded package that belongs on the path."""
    folder = CORPUS / pin
    if not folder.is_dir():
        _download(pin, folder)
    for inner in (folder, *sorted(folder.iterdir()), *sorted(folder.glob("*/src"))):
        if (inner / module).is_dir() or (inner / f"{module}.py").is_file():
            return inner
    sys.exit(f"traced-strangers: {pin} holds no {module}")


def _download(pin: str, folder: Path) -> None:
    print(f"  downloading {pin}", file=sys.stderr, flush=True)
    CORPUS.mkdir(parents=True, exist_ok=True)
    # Unpacked in a temporary folder and then moved, so that an interrupted run leaves no incomplete tree.
    with tempfile.TemporaryDirectory(dir=CORPUS) as half:
        archives, unpacked = Path(half, "archives"), Path(half, "unpacked")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-qq", "--no-deps"]
        if subprocess.run([*pip, "--dest", str(archives), pin], check=False).returncode:
            sys.exit(f"traced-strangers: pip could not download {pin}")
        (archive,) = archives.iterdir()
        if archive.suffix == ".whl":
            shutil.unpack_archive(archive, unpacked, "zip")
        else:
            shutil.unpack_archive(archive, unpacked, filter="data")
        unpacked.rename(folder)


def _environment(checkout: Path | None, scratch: Path) -> dict[str, str]:
    """Return the environment in which `python -m symfix` runs the checkout."""
    if checkout is None:
        return dict(os.environ)
    place = scratch / "measured"
    place.mkdir()
    (place / "symfix").symlink_to(checkout.resolve())
    environment = {**os.environ, "PYTHONPATH": str(place)}
    command = [sys.executable, "-c", "import symfix.codemods; print(symfix.codemods.__file__)"]
    ran = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, check=False)
    if not ran.stdout.strip() or not Path(ran.stdout.strip()).resolve().is_relative_to(checkout.resolve()):
        sys.exit(f"traced-strangers: {checkout} is no checkout of symfix: {ran.stdout or ran.stderr}")
    return environment


def _measured(name: str, fixer: Fixer, roots: Sequence[Path], scratch: Path, causes: bool) -> Measured:
    wanted = {target: list(TRACERS) for target in names_of(name)}
    measured = Measured(name, _captured(name, wanted, roots, scratch))
    for variant, options in VARIANTS.items():
        changed = measured.variants[variant] = _changed(measured, fixer, options, roots, scratch, wanted)
        if causes and changed.lost:
            _blame(changed, measured, fixer, options, roots, scratch)
    print(f"  {name}: {len(measured.before)} targets", file=sys.stderr, flush=True)
    return measured


def _blame(
    changed: Changed, measured: Measured, fixer: Fixer, options: Sequence[str], roots: Sequence[Path], scratch: Path
) -> None:
    """Record for each lost way the rules that lose it on their own."""
    ways: dict[str, list[str]] = {}
    for one in changed.lost:
        one["rules"] = []
        ways.setdefault(one["target"], []).append(one["tracer"])
    for rule in _rules(changed):
        alone = _changed(measured, fixer, [*options, "--select", rule], roots, scratch, ways)
        lost = {(one["target"], one["tracer"]) for one in alone.lost}
        for one in changed.lost:
            if (one["target"], one["tracer"]) in lost:
                one["rules"].append(rule)


def _rules(changed: Changed) -> list[str]:
    return sorted({fix.split()[0] for fix in changed.fixes})


def _changed(
    measured: Measured,
    fixer: Fixer,
    options: Sequence[str],
    roots: Sequence[Path],
    scratch: Path,
    ways: Mapping[str, Sequence[str]],
) -> Changed:
    """Fix a copy of a package and capture ways of its targets from there."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        changed = _fix(_copy(measured.name, roots, Path(folder)), fixer, options)
        if changed.fixes:
            after = _captured(measured.name, ways, [Path(folder), *roots], scratch)
            for target, captures in after.items():
                _compare(changed, target, measured.before[target], captures)
    return changed


def _compare(changed: Changed, target: str, before: Mapping[str, Capture], after: Mapping[str, Capture]) -> None:
    for tracer, why in lost_captures(before, after).items():
        changed.lost.append({"target": target, "tracer": tracer, "why": " ".join(why.split())})
    changed.gained += [f"{target} {name}" for name in gained_captures(before, after)]


def _copy(module: str, roots: Sequence[Path], folder: Path) -> Path:
    for root in roots:
        if (root / module).is_dir():
            return Path(shutil.copytree(root / module, folder / module))
        if (root / f"{module}.py").is_file():
            return Path(shutil.copy(root / f"{module}.py", folder))
    raise FileNotFoundError(module)


def _fix(path: Path, fixer: Fixer, options: Sequence[str]) -> Changed:
    """Fix the sources at ``path``. Return the fixes, without losses or gains yet."""
    command = [sys.executable, "-m", "symfix", "fix", "--allow-dirty", "--quiet", "--jobs", "1", "--format", "json"]
    command += [*options, *fixer.options, str(path)]
    ran = subprocess.run(command, cwd=path.parent, env=fixer.environment, capture_output=True, text=True, check=False)
    if not ran.stdout.startswith("{"):
        raise RuntimeError(f"symfix fix {path.name}: {ran.stderr.strip()}")
    files = json.loads(ran.stdout)["files"]
    fixes = Counter(f"{fix['rule']} {fix['safety']}" for file in files for fix in file["fixes"] if fix["applied"])
    failed = [str(Path(file["path"]).relative_to(path.parent)) for file in files if file["outcome"] == "failed"]
    return Changed(fixes, failed)


def _captured(
    name: str, ways: Mapping[str, Sequence[str]], path: Sequence[Path], scratch: Path
) -> dict[str, dict[str, Capture]]:
    """Capture targets in child processes. A crash fails only its own target, and another child continues."""
    answers: dict[str, dict[str, Capture]] = {}
    while left := {target: tracers for target, tracers in ways.items() if target not in answers}:
        code, found = _child(name, left, path, scratch)
        answers |= found
        unanswered = [target for target in left if target not in found]
        if unanswered:
            answers[unanswered[0]] = _dead(f"the child process ended with {code}", left[unanswered[0]])
    return answers


def _dead(why: str, tracers: Sequence[str]) -> dict[str, Capture]:
    return {name: Capture(error=why, breaks=0, guards=[], specialized=0, deviation="") for name in ("eager", *tracers)}


def _child(
    name: str, ways: Mapping[str, Sequence[str]], path: Sequence[Path], scratch: Path
) -> tuple[int | None, dict[str, dict[str, Capture]]]:
    folders = [*map(str, path), str(Path(__file__).resolve().parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "scoreboards.strangers_targets", name, json.dumps(ways)]
    empty = scratch / "empty"
    empty.mkdir(exist_ok=True)
    with tempfile.TemporaryFile("w+", dir=scratch) as output:
        limit = LIMIT * (1 + len(ways))
        try:
            code: int | None = subprocess.run(
                command,
                cwd=empty,
                env=environment,
                stdout=output,
                stderr=subprocess.DEVNULL,
                timeout=limit,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            code = None
        output.seek(0)
        rows = [json.loads(line) for line in output if line.startswith('{"target"') and line.endswith("}\n")]
    return code, {row["target"]: row["captures"] for row in rows}


def board(measured: Sequence[Measured], minutes: float) -> Iterator[str]:
    """Yield the lines of the board."""
    targets = sum(len(one.before) for one in measured)
    ways = sum(one.ways for one in measured)
    yield f"{len(measured)} packages, {targets} targets, {ways} ways that trace; {minutes:.0f} minutes"
    for one in measured:
        yield from (f"does not run: {target}: {error}" for target, error in one.failing.items())
    for variant in VARIANTS:
        yield from _variant(measured, variant)


def _variant(measured: Sequence[Measured], variant: str) -> Iterator[str]:
    rows = [[one.name, *_figures(one, variant)] for one in measured]
    total = ["all", *(sum(column) for column in zip(*(row[1:] for row in rows), strict=True))]
    head = ("package", "targets", "ways", "fixes", "lost", "of these only breaks", "newly traced")
    yield f"\n{variant}: {' '.join(('symfix fix', *VARIANTS[variant]))}"
    yield table([head, *rows, total], indent="  ")
    changed = [one.variants[variant] for one in measured]
    yield f"  fixes: {_counts(changed_fix for one in changed for changed_fix in one.fixes.elements())}"
    yield f"  lost by tracer: {_counts(way['tracer'] for one in changed for way in one.lost)}"
    yield f"  newly traced by tracer: {_counts(way.partition(' ')[2] for one in changed for way in one.gained)}"
    yield from (f"  symfix failed on {name}" for one in changed for name in one.failed)
    for way in (way for one in changed for way in one.lost):
        rules = f" [{', '.join(way['rules']) or 'no rule alone'}]" if "rules" in way else ""
        yield f"  lost: {way['target']} {way['tracer']}{rules}: {way['why']}"


def _figures(one: Measured, variant: str) -> Iterator[int]:
    changed = one.variants[variant]
    yield len(one.before)
    yield one.ways
    yield changed.fixes.total()
    yield len(changed.lost)
    yield changed.breaking
    yield len(changed.gained)


def _counts(names: Iterable[str]) -> str:
    return ", ".join(f"{name} {count}" for count, name in counted(Counter(names))) or "none"


def _document(measured: Sequence[Measured]) -> dict[str, Any]:
    return {one.name: _figures_of(one) for one in measured}


def _figures_of(one: Measured) -> dict[str, Any]:
    return {
        "package": PACKAGES[one.name],
        "targets": len(one.before),
        "ways": one.ways,
        "not traced before": {
            target: {name: capture["error"] for name, capture in way.items() if capture["error"]}
            for target, way in one.before.items()
        },
        "variants": {
            name: {
                "fixes": dict(changed.fixes),
                "failed": changed.failed,
                "lost": changed.lost,
                "gained": changed.gained,
            }
            for name, changed in one.variants.items()
        },
    }


if __name__ == "__main__":
    sys.exit(main())
