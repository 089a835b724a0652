"""Test of killing `symfix series build` at random instants and building again.

Protocol. A small repository is planned and built once without interruption. Its branches are the expected result. Then
a planned copy is built, and killed with all its children after a random part of a whole build's time. It is built
again, and all of this is repeated as requested.

Faults are other branches or commits, an unbuilt request, or a changed byte of the checkout, the index or HEAD. Exit
code: 0 when nothing is wrong, 1 otherwise.
"""

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
from pathlib import Path

from projects import branches, project, start, torchlike, traces
from running import symfix

BUILD = ("series", "build", "--no-verify", "--no-page")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/killed-series", description=__doc__)
    parser.add_argument("--count", type=int, default=30, help="how many builds are killed")
    parser.add_argument("--seed", type=int, default=0)
    words = parser.parse_args()
    chance = random.Random(words.seed)
    wrong = midway = 0
    with tempfile.TemporaryDirectory() as scratch:
        planned = project(Path(scratch, "planned"), torchlike())
        symfix("series", "plan", "torch", cwd=planned, code=0)
        whole = _copy(planned, Path(scratch, "whole"))
        begun = time.monotonic()
        symfix(*BUILD, cwd=whole, code=0)
        takes = time.monotonic() - begun
        for number in range(1, words.count + 1):
            repo = _copy(planned, Path(scratch, "killed"))
            before = traces(repo)
            process = start(repo, *BUILD)
            time.sleep(takes * chance.random())
            killed = process.poll() is None
            if killed:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            there = len(branches(repo))
            midway += killed and 0 < there < len(branches(whole))
            symfix(*BUILD, cwd=repo, code=0)
            good = branches(repo) == branches(whole) and traces(repo) == before
            wrong += not good
            said = "as it must be" if good else "WRONG"
            print(f"{number}: {'killed' if killed else 'ended'} with {there} branches: {said}")
            shutil.rmtree(repo)
    print(f"{words.count} builds, {midway} killed between two branches, {wrong} wrong")
    return 1 if wrong else 0


def _copy(source: Path, target: Path) -> Path:
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)
    return target


if __name__ == "__main__":
    sys.exit(main())
