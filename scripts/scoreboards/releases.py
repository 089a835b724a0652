"""Releases of torch: the core of symfix in an environment of each.

Protocol. Each release is installed with this checkout by `pip` in an empty environment, the CPU build if the index has
one. There run: doctor, a check of that torch, `fix --verify` of PyTorch 2.6.0's LossNLL.cpp, a hunt and a repair of
twelve operators, the export of the examples, and `fix --verify` of the example's extension with its build and tests.
A cell is `ok` with a figure, or the reason why not. Exit code: 0 when all cells are ok, 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .corpus import NATIVE, ROOT, source_tree
from .table import table, write_json

RELEASES = ("2.9.1", "2.11.0", "2.13.0", "2.14.1", "newest")
OPERATORS = (
    "trapezoid", "cumulative_trapezoid", "unfold", "tensor_split", "linalg.vander", "combinations", "std_mean",
    "diag_embed",
    "nn.functional.cosine_embedding_loss", "nn.functional.cross_entropy", "nn.functional.pixel_shuffle",
    "nn.functional.max_unpool2d",
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """Result of one step with one release."""

    step: str
    ok: bool
    told: str
    seconds: float = 0.0


@dataclass(frozen=True)
class Workplace:
    """Environment and scratch folder of one release."""

    folder: Path
    tree: Path
    patience: float

    @property
    def environment(self) -> Path:
        return self.folder / "env"

    @property
    def python(self) -> Path:
        return self.environment / "bin" / "python"

    def run(self, name: str, *words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command of this environment and keep its output as a file. After the limit its code is 124."""
        command = [str(self.python), *map(str, words)]
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        own = {"XDG_CACHE_HOME": str(self.folder / "cache"), "PYTHONPATH": "", "PATH": path}
        try:
            ran = subprocess.run(
                command,
                cwd=cwd or self.folder,
                env={**os.environ, **own},
                capture_output=True,
                text=True,
                timeout=self.patience,
            )
        except subprocess.TimeoutExpired:
            ran = subprocess.CompletedProcess(command, 124, "", f"stopped after {self.patience:.0f} s")
        (self.folder / f"{name}.log").write_text(ran.stdout + ran.stderr)
        return ran

    def symfix(self, *words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run symfix of this environment."""
        return self.run(str(words[0]), "-m", "symfix", *words, cwd=cwd)


def doctor(place: Workplace) -> Cell:
    ran = place.symfix("doctor")
    version = re.search(r"^ok +torch: (\S+)", ran.stdout, re.MULTILINE)
    if ran.returncode or version is None:
        return Cell("doctor", False, _last(ran))
    return Cell("doctor", True, version[1])


def check(place: Workplace) -> Cell:
    ran = place.run("package", "-c", "import torch; print(torch.__path__[0])")
    ran = place.symfix("check", "--format", "json", ran.stdout.strip())
    if ran.returncode not in (0, 1):
        return Cell("check", False, _last(ran))
    report = json.loads(ran.stdout)
    failed = [file["path"] for file in report["files"] if file["outcome"] == "failed"]
    return Cell("check", not failed, failed[0] if failed else f"{report['summary']['files']} files")


def fix(place: Workplace) -> Cell:
    file = NATIVE / "LossNLL.cpp"
    work = place.folder / "fix"
    (work / NATIVE).mkdir(parents=True)
    shutil.copyfile(place.tree / file, work / file)
    repro = ROOT / "golden" / "repros" / "cross_entropy.py"
    return _verdict("fix", place.symfix("fix", "--verify", "--allow-dirty", "--repro", repro, file, cwd=work))


def hunt(place: Workplace) -> Cell:
    ran = place.symfix("hunt", "--format", "json", *OPERATORS)
    if ran.returncode not in (0, 1):
        return Cell("hunt", False, _last(ran))
    found = json.loads(ran.stdout)["summary"]
    return Cell("hunt", not found["untestable"], f"{found['failed']} of {found['passed'] + found['failed']} fail")


def repair(place: Workplace) -> Cell:
    ran = place.symfix("repair", "--output", place.folder / "repairs", *OPERATORS)
    figures = place.folder / "repairs" / "figures.json"
    if ran.returncode not in (0, 1) or not figures.is_file():
        return Cell("repair", False, _last(ran))
    found = json.loads(figures.read_text())
    return Cell("repair", not found["regressions"], f"{found['proven']} of {found['failing']} proven")


def export(place: Workplace) -> Cell:
    return _verdict("export", place.symfix("export", ROOT / "examples" / "positive_rows.py"))


def extension(place: Workplace) -> Cell:
    work = shutil.copytree(ROOT / "examples" / "extension", place.folder / "extension")
    ran = place.symfix("fix", "--verify", "--allow-dirty", "--config", "pyproject.toml", ".", cwd=work)
    return replace(_verdict("extension", ran), step="extension")


Step = Callable[[Workplace], Cell]
STEPS: tuple[Step, ...] = (doctor, check, fix, hunt, repair, export, extension)


def tried(place: Workplace, release: str, steps: Sequence[Step] = STEPS) -> list[Cell]:
    """Return the cells of a release. An environment that an earlier run made is used again."""
    for name in ("fix", "extension", "repairs", "cache"):
        shutil.rmtree(place.folder / name, ignore_errors=True)
    cells = [] if place.python.is_file() else [timed(lambda one: install(one, release), place)]
    return cells + [timed(step, place) for step in steps if all(cell.ok for cell in cells)]


def install(place: Workplace, release: str) -> Cell:
    """Make the environment: the CPU build of a release, or the plain one."""
    venv.create(place.environment, with_pip=True)
    pip = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--no-cache-dir")
    named = ["torch"] if release == "newest" else [f"torch=={release}+cpu", f"torch=={release}"]
    ran = place.run("tools", *pip, "setuptools", "pytest")
    for requirement in named:
        ran = place.run("install", *pip, requirement)
        if ran.returncode == 0:
            ran = place.run("install", *pip, "--editable", f"{ROOT}[verify]")
            break
    if ran.returncode:
        shutil.rmtree(place.environment)
    return Cell("install", ran.returncode == 0, "" if ran.returncode == 0 else _last(ran))


def timed(step: Step, place: Workplace) -> Cell:
    """Return the cell of a step with its seconds. A fault of the step is its reason."""
    started = time.monotonic()
    try:
        cell = step(place)
    except (KeyError, ValueError, OSError) as fault:
        cell = Cell(getattr(step, "__name__", ""), False, f"{type(fault).__name__}: {fault}")
    print(f"  {cell.step}: {'ok' if cell.ok else 'not ok'} {cell.told}", file=sys.stderr, flush=True)
    return replace(cell, seconds=round(time.monotonic() - started, 1))


def table_rows(found: dict[str, list[Cell]]) -> list[tuple[object, ...]]:
    """Return the table with its head: a row for each step, a column for each release."""
    steps = list(dict.fromkeys(cell.step for cells in found.values() for cell in cells))
    rows: list[tuple[object, ...]] = [("", *found)]
    for step in steps:
        cells = [next((cell for cell in row if cell.step == step), None) for row in found.values()]
        rows.append((step, *("" if cell is None else f"{'ok' if cell.ok else 'no'} {cell.told}" for cell in cells)))
    return rows


def main() -> int:
    words = _words()
    tree = source_tree("2.6.0", words.tree)
    found: dict[str, list[Cell]] = {}
    with ExitStack() as stack:
        folder = words.folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="releases-")))
        for release in words.release or RELEASES:
            print(f"{release}:", file=sys.stderr, flush=True)
            place = Workplace(folder.absolute() / release, tree, words.patience)
            found[release] = tried(place, release, [one for one in STEPS if one.__name__ in words.step])
            if words.folder is None:
                shutil.rmtree(place.folder)
    print(table(table_rows(found)))
    figures = {release: [asdict(cell) for cell in cells] for release, cells in found.items()}
    print(f"figures: {write_json('releases', words.json, figures)}")
    return 0 if all(cell.ok for cells in found.values() for cell in cells) else 1


def _verdict(step: str, ran: subprocess.CompletedProcess[str]) -> Cell:
    ok = (
        ran.returncode in (0, 1)
        and re.search(r"(?:^|: )proven(?::|$)", ran.stdout + ran.stderr, re.MULTILINE) is not None
    )
    return Cell(step, ok, "proven" if ok else _last(ran))


def _last(ran: subprocess.CompletedProcess[str]) -> str:
    lines = (ran.stderr.strip() or ran.stdout.strip()).splitlines()
    return f"exit {ran.returncode}: {lines[-1][:160] if lines else 'no output'}"


def _words() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/releases", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    listed = ", ".join(RELEASES)
    parser.add_argument("--release", action="append", metavar="X.Y.Z", help=f"instead of {listed}")
    parser.add_argument("--tree", type=Path, help="a PyTorch 2.6.0 source tree")
    parser.add_argument("--folder", type=Path, help="where environments and output stay; a CUDA build takes 8 GB")
    steps = [step.__name__ for step in STEPS]
    parser.add_argument("--step", nargs="*", choices=steps, default=steps, help="only these; none: only install")
    parser.add_argument("--patience", type=float, default=1200, help="limit of one step in seconds")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
