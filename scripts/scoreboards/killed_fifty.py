"""Test of killing symfix at random instants: each file must be unchanged or complete, and nothing may remain."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from symfix.codemods.system.cache_folder import LAYOUT

from .table import table, write_json

MARK = "SYMFIX_KILLED_RUN"
PATIENCE = 60.0
"""Seconds in which the children of a killed run must end. Their supervisors kill them as soon as they are scheduled."""
ENDINGS = (0, 1)
PYTHON = "import torch\n\n\ndef f(x: torch.Tensor):\n    torch._check_is_size(x.shape[0])\n    return x\n"
KERNEL = """\
#include <ATen/core/Tensor.h>
#include <ATen/ops/mul.h>

namespace at::native {

Tensor square(const Tensor& self) {
  TORCH_CHECK(self.numel() != 17);
  return at::mul(self, self);
}

} // namespace at::native
"""
REPRO = "import torch\nassert torch.square(torch.ones(2, 3)).sum() == 6\n"


@dataclass
class Case:
    """A command on a folder of sources, with separate folders for its cache and its temporary files."""

    name: str
    folder: Path
    files: Mapping[str, str]
    words: tuple[str, ...]
    forgets: tuple[str, ...] = ()
    """Kinds of cached results that each run must compute again."""
    after: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def sources(self) -> Path:
        return self.folder / "sources"

    @property
    def temporary(self) -> Path:
        return self.folder / "tmp"

    def prepare(self) -> None:
        """Restore the files and delete the cached results that the run has to make."""
        for name, text in self.files.items():
            (self.sources / name).write_text(text)
        for kind in self.forgets:
            shutil.rmtree(self.folder / "cache" / "symfix" / LAYOUT / kind, ignore_errors=True)

    def start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), "TMPDIR": str(self.temporary)}
        return subprocess.Popen(
            [sys.executable, "-m", "symfix.codemods.cli", *self.words, str(self.sources)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**environment, MARK: self.name},
            cwd=self.folder,
        )

    def learn(self, runs: int) -> None:
        """Run to the end, and record the result and the duration of the last of ``runs``."""
        for _ in range(runs):
            self.prepare()
            started = time.monotonic()
            code = self.start().wait()
            self.seconds = time.monotonic() - started
            if code not in ENDINGS:
                raise SystemExit(f"{self.name} ends with {code} when nobody kills it")
        self.after = {name: (self.sources / name).read_text() for name in self.files}
        if self.after == dict(self.files):
            raise SystemExit(f"{self.name} changes nothing")


@dataclass(frozen=True)
class Instant:
    """One killed run. ``wrong`` are the violations."""

    case: str
    second: float
    changed: int
    left: int
    wrong: tuple[str, ...]


def cases(folder: Path, many: int) -> Iterator[Case]:
    """Yield the cases: many files fixed by two processes, and one operator file verified before it is written."""
    files = {f"m{number}.py": PYTHON + "# filler\n" * (number % 7 * 90) for number in range(many)}
    kept = ("results",)
    yield Case("fix", folder / "fix", files, ("fix", "--allow-dirty", "-j", "2"), kept)
    repro = folder / "repro.py"
    repro.write_text(REPRO)
    words = ("fix", "--allow-dirty", "--verify", "--repro", str(repro))
    yield Case("fix --verify", folder / "verify", {"Square.cpp": KERNEL}, words, (*kept, "objects", "evidence"))


def kill_at(case: Case, second: float) -> Instant:
    """Kill one run after a number of seconds, check the files, and run again to the end."""
    case.prepare()
    run = case.start()
    try:
        run.wait(second)
    except subprocess.TimeoutExpired:
        os.kill(run.pid, signal.SIGKILL)
        run.wait()
    wrong = [f"still running after {PATIENCE:.0f} s: {name}" for name in _outlived(case.name)]
    changed = 0
    for name, before in case.files.items():
        now = (case.sources / name).read_text()
        changed += now == case.after[name]
        if now not in (before, case.after[name]):
            wrong.append(f"{name} is neither as before nor as after")
    left = len(_leftovers(case))
    code = case.start().wait()
    if code not in ENDINGS:
        wrong.append(f"the next run ends with {code}")
    wrong += [
        f"{name} is not finished" for name, text in case.after.items() if (case.sources / name).read_text() != text
    ]
    wrong += [f"the next run leaves {path}" for path in _leftovers(case)]
    return Instant(case.name, second, changed, left, tuple(wrong))


def _outlived(name: str) -> list[str]:
    deadline = time.monotonic() + PATIENCE
    while (alive := list(_marked(name))) and time.monotonic() < deadline:
        time.sleep(0.05)
    return alive


def _marked(name: str) -> Iterator[str]:
    mark = f"{MARK}={name}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes().split(b"\0"):
                yield (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:200]
        except OSError:
            continue


def _leftovers(case: Case) -> list[str]:
    """Return the temporary files that remain in the source, temporary and cache folders."""
    beside = [path for path in case.sources.iterdir() if path.name not in case.files]
    temporary = [path for path in case.temporary.rglob("*") if path.parent != case.temporary or path.is_file()]
    cached = (case.folder / "cache").rglob(".new-*")
    return sorted(str(path.relative_to(case.folder)) for path in (*beside, *temporary, *cached))


def run(ready: Sequence[Case], instants: int, seed: int, warm: int = 3) -> list[Instant]:
    """Kill ``instants`` runs of the cases in turn. The first ``warm`` runs of a case fill its caches."""
    chance = random.Random(seed)
    found = []
    for case in ready:
        for part in ("sources", "tmp", "cache"):
            (case.folder / part).mkdir(parents=True)
        case.learn(warm)
        print(f"{case.name}: {case.seconds:.1f} s when nobody kills it", flush=True)
    for number in range(instants):
        case = ready[number % len(ready)]
        instant = kill_at(case, chance.uniform(0.0, case.seconds))
        found.append(instant)
        print(f"{number + 1:3} {case.name:13} killed at {instant.second:6.2f} s", *instant.wrong, flush=True)
    return found


def main() -> None:
    """Kill, check and print. Exit with 1 if anything was wrong."""
    parser = argparse.ArgumentParser(prog="scripts/killed-fifty", description=__doc__)
    parser.add_argument("--instants", type=int, default=50, help="how many runs to kill [50]")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(list(cases(Path(folder), 300)), words.instants, words.seed)
    rows: list[tuple[object, ...]] = [("", "killed", "before any write", "midway", "left behind", "cleared", "wrong")]
    for name in dict.fromkeys(instant.case for instant in found):
        mine = [instant for instant in found if instant.case == name]
        dirty = sum(bool(instant.left) for instant in mine)
        midway = sum(bool(instant.changed) for instant in mine)
        wrong = sum(bool(instant.wrong) for instant in mine)
        rows.append((name, len(mine), len(mine) - midway, midway, dirty, dirty - wrong, wrong))
    print(table(rows))
    write_json("killed", words.json, {"seed": words.seed, "instants": [vars(instant) for instant in found]})
    sys.exit(any(instant.wrong for instant in found))


if __name__ == "__main__":
    main()
