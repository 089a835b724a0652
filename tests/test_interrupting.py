"""Tests of Ctrl-C at any time: one line, exit code 2, and no remaining processes or temporary files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from projects import project, torchlike, traces
from running import MENDED, SHAPES, git, symfix
from symfix.codemods.harness.temp_folder import clear_leftovers
from symfix.codemods.system import sigint

SECONDS = 120.0
"""Time limit for the effects of a start. The sleep of children is longer."""
SECONDS_TO_END = 40.0
"""Time limit for the end of a run, which takes two seconds of processor time. Other processes use the processor too."""
SLEEP = 1000

SAID = "symfix: interrupted; "


class Run:
    """Interrupted command with all processes that it started."""

    def __init__(self, words: Sequence[object], cwd: Path, temporary: Path, **environment: str) -> None:
        self.mark = f"SYMFIX_TEST={uuid.uuid4()}"
        self.temporary = temporary
        name, _, value = self.mark.partition("=")
        self.process = subprocess.Popen(
            list(map(str, words)), cwd=cwd, text=True, start_new_session=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(temporary), **environment, name: value},
            # A test run in the background ignores Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip

    def wait_for(self, *there: Path) -> None:
        until = time.monotonic() + SECONDS
        while not all(path.exists() for path in there):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until, "it did not begin"
            time.sleep(0.05)

    def wait_for_child(self, name: str) -> None:
        until = time.monotonic() + SECONDS
        while not any(name in words for one, words in self.running().items() if one != self.process.pid):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until, "it did not begin"
            time.sleep(0.05)

    def running(self) -> dict[int, str]:
        """Return the running processes of the command by id."""
        found = {}
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                    found[int(process.name)] = (process / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
        return found

    def interrupt(self, *, alone: bool = False) -> str:
        """Send Ctrl-C to one process (``alone``) or all in the terminal, and return stderr."""
        (os.kill if alone else os.killpg)(self.process.pid, signal.SIGINT)
        _, said = self.process.communicate(timeout=SECONDS_TO_END)
        assert self.process.returncode == 2, said
        until = time.monotonic() + SECONDS_TO_END
        while self.running() and time.monotonic() < until:
            time.sleep(0.05)
        assert self.running() == {}
        # If the processor is so busy that children outlive the run, the next run removes their files.
        own = self.temporary / f"symfix-{os.geteuid()}"
        clear_leftovers(own)
        assert [path for path in self.temporary.rglob("*") if path != own] == []
        return said

    def end(self) -> None:
        for process in self.running():
            os.kill(process, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[list[Run]]:
    found: list[Run] = []
    yield found
    for run in found:
        run.end()


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    (tmp_path / "tmp").mkdir()
    return tmp_path / "tmp"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "m.py").write_text(SHAPES)
    return tmp_path / "code" / "m.py"


CLI = [sys.executable, "-m", "symfix.codemods.cli"]


def sleeper(path: Path, trace: Path) -> Path:
    path.write_text(f"#!/bin/sh\ntouch {trace}\nexec sleep {SLEEP}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("module", ["traceback", "click", "platformdirs", "tree_sitter"])
@pytest.mark.parametrize("program", ["symfix.codemods.cli", "symfix.codemods.lintrunner"])
def test_while_something_is_imported(
    source: Path, tmp_path: Path, temporary: Path, runs: list[Run], module: str, program: str
) -> None:
    (tmp_path / "slow").mkdir()
    trace = tmp_path / "trace"
    (tmp_path / "slow" / f"{module}.py").write_text(f"open({str(trace)!r}, 'w')\nimport time\ntime.sleep({SLEEP})\n")
    words = ["check", "m.py"] if program.endswith("cli") else ["--", "m.py"]
    runs.append(Run([sys.executable, "-m", program, *words], source.parent, temporary,
                    PYTHONPATH=str(tmp_path / "slow"), XDG_CACHE_HOME=str(tmp_path / "cache")))  # fmt: skip
    runs[0].wait_for(trace)
    assert runs[0].interrupt() == f"{SAID}every file is either as it was or whole\n"


@pytest.mark.parametrize("alone", [False, True])
def test_while_another_interpreter_is_asked(
    source: Path, tmp_path: Path, temporary: Path, runs: list[Run], alone: bool
) -> None:
    python = sleeper(tmp_path / "python", tmp_path / "trace")
    runs.append(Run([*CLI, "fix", "--allow-dirty", "--torch-python", python, source], source.parent, temporary))
    runs[0].wait_for(tmp_path / "trace")
    assert runs[0].interrupt(alone=alone) == f"{SAID}every file is either as it was or whole\n"
    assert source.read_text() == SHAPES


SLOW_WORKERS = f"""
import os, sys, time
from pathlib import Path
from symfix.codemods import cli
from symfix.codemods.engine import run

def slow(*words):
    Path(sys.argv.pop(), str(os.getpid())).touch()
    time.sleep({SLEEP})

run.examine = slow
run.FEW_BYTES = 0
run._CHUNK_BYTES = 0
cli.main()
"""


@pytest.mark.parametrize("alone", [False, True])
def test_while_processes_are_at_work(
    source: Path, tmp_path: Path, temporary: Path, runs: list[Run], alone: bool
) -> None:
    (source.parent / "n.py").write_text(SHAPES)
    (tmp_path / "workers").mkdir()
    words = ["fix", "--allow-dirty", "-j", "2", str(source.parent)]
    script = SLOW_WORKERS.replace("sys.argv.pop()", repr(str(tmp_path / "workers")))
    runs.append(Run([sys.executable, "-c", script, *words], source.parent, temporary))
    until = time.monotonic() + SECONDS
    while len(list((tmp_path / "workers").iterdir())) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    assert len(list((tmp_path / "workers").iterdir())) == 2, runs[0].process.poll()
    assert runs[0].interrupt(alone=alone) == f"{SAID}every file is either as it was or whole\n"
    assert source.read_text() == SHAPES


@pytest.mark.parametrize("command", [["verify"], ["fix", "--verify", "--allow-dirty", "."]])
def test_while_a_project_is_tested(tmp_path: Path, temporary: Path, runs: list[Run], command: list[str]) -> None:
    folder = project(tmp_path / "project", {"pyproject.toml": "", "answer.py": "VALUE = 41\n", "m.py": SHAPES})
    (folder / "answer.py").write_text("VALUE = 42\n")
    runs.append(Run([*CLI, *command, "--test", f"sleep {SLEEP}"], folder, temporary))
    runs[0].wait_for_child(f"sleep\0{SLEEP}")
    assert runs[0].interrupt() == f"{SAID}every file is either as it was or whole\n"
    assert (folder / "m.py").read_text() == SHAPES


@pytest.mark.parametrize("words", [["series", "build"], ["hunt", "abs"]])
def test_while_torch_is_run(tmp_path: Path, temporary: Path, runs: list[Run], words: list[str]) -> None:
    folder = project(tmp_path / "repo", torchlike())
    symfix("series", "plan", "torch", cwd=folder, code=0)
    before = traces(folder)
    runs.append(Run([*CLI, *words], folder, temporary, XDG_CACHE_HOME=str(tmp_path / "cache")))
    runs[0].wait_for_child("entry.py")
    assert f"{SAID}the same command goes on where this one was" in runs[0].interrupt()
    assert traces(folder) == before


def test_at_a_question(source: Path, temporary: Path, runs: list[Run]) -> None:
    runs.append(Run([*CLI, "fix", "--allow-dirty", "-i", "m.py"], source.parent, temporary))
    assert runs[0].process.stderr is not None
    seen = ""
    while "Take this fix" not in seen:
        piece = os.read(runs[0].process.stderr.fileno(), 4096).decode()
        assert piece, seen
        seen += piece
    assert runs[0].interrupt().endswith(f"{SAID}every file is either as it was or whole\n")
    assert source.read_text() == SHAPES


def test_what_is_temporary_goes(tmp_path: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from symfix.codemods.system import sigint
from symfix.codemods.harness.temp_folder import scratch_folder

signal.signal(signal.SIGINT, signal.default_int_handler)
sigint.install()
file = Path({str(tmp_path)!r}, "file")
with scratch_folder(Path({str(tmp_path)!r}, "own")) as folder, sigint.temporary(file):
    file.touch()
    (folder / "deep" / "er").mkdir(parents=True)
    with sigint.temporary(Path({str(tmp_path)!r}, "gone")):
        pass
    Path({str(tmp_path)!r}, "gone").touch()
    os.kill(os.getpid(), signal.SIGINT)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (
        sigint.INTERRUPTED,
        f"{SAID}every file is either as it was or whole\n",
    )
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["gone", "own"]


def test_who_has_ctrl_c_ignored_goes_on(source: Path, tmp_path: Path) -> None:
    script = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    script += "from symfix.codemods.system.sigint import install\ninstall()\n"
    script += "assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN\n"
    subprocess.run([sys.executable, "-c", script], check=True)


# A temporary file of a killed run, next to a source.


def test_a_leaving_of_a_killed_run_does_not_stop_the_next(source: Path) -> None:
    folder = source.parent
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    killed = subprocess.Popen(["true"])
    killed.wait()
    dead, living = folder / f".n.py.{killed.pid}-abc_1.symfix", folder / f".n.py.{os.getpid()}-abc_1.symfix"
    for path in (dead, living):
        path.write_bytes(b"half a fi")
    symfix("fix", ".", cwd=folder, code=0)
    assert MENDED in source.read_text()
    assert (dead.exists(), living.exists()) == (False, True)


def test_another_file_that_is_not_committed_does(source: Path) -> None:
    folder = source.parent
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    for name in (".n.py.1.symfix", "n.py.1-abc.symfix", ".n.py.1-abc.py"):
        (folder / name).write_bytes(b"a person's")
        assert f"{name}: not committed" in symfix("fix", ".", cwd=folder, code=2).stderr
        (folder / name).unlink()
    tracked = folder / f".m.py.{2**22 + 1}-abc.symfix"
    tracked.write_bytes(b"committed")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "second")
    tracked.write_bytes(b"changed")
    assert "not committed" in symfix("fix", ".", cwd=folder, code=2).stderr
    assert tracked.read_bytes() == b"changed"
