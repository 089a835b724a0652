"""Tests of `symfix export -- COMMAND`. An export that fails in a user's command is fixed in forks of its process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from running import symfix

MODELS = Path(__file__).parents[1] / "golden" / "models"
BEGIN = "import torch\nfrom item_and_slice import Prefix\n\ncall = (torch.randn(4, 6), torch.tensor(3))\n"
FAILS = f"""{BEGIN}shapes = ({{0: torch.export.Dim("batch"), 1: torch.export.Dim("length")}}, None)
torch.export.export(Prefix(), call, dynamic_shapes=shapes)
print("not here")
"""
NONE_FAILED = "symfix: no call of torch.export.export, draft_export, torch.onnx.export or torch.compile failed; "
SECONDS = 120.0


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(MODELS / "item_and_slice.py", tmp_path)
    return tmp_path


def exported(project: Path, *words: object, code: int, **environment: str) -> subprocess.CompletedProcess[str]:
    return symfix("export", "--jobs", "1", "--", *words, cwd=project, code=code, **environment)


def require_proven(project: Path, said: str, name: str = "Prefix") -> None:
    expected = (MODELS / "item_and_slice.txt").read_text().splitlines()
    first = said.splitlines().index(f"{name}: proven")
    assert said.splitlines()[first + 1 : first + 9] == expected[1:9]
    written = (project / "symfix-export" / f"{name}.patch").read_text()
    assert (
        written.partition("diff --git")[2] == (MODELS / "item_and_slice.patch").read_text().partition("diff --git")[2]
    )
    (target,) = json.loads((project / "symfix-export" / "export.json").read_text())["targets"]
    assert target["verdict"] == "proven"


def test_a_script_runs_as_it_is_up_to_the_call_that_fails(project: Path) -> None:
    (project / "run.py").write_text("import sys\n\nprint('begun', sys.argv[1:], input())\n" + FAILS)
    ended = symfix(
        "export", "--", sys.executable, "run.py", "--jobs", "x", "--", "y", cwd=project, code=0, text="typed\n"
    )
    assert ended.stdout.startswith("begun ['--jobs', 'x', '--', 'y'] typed\nPrefix: proven\n")
    assert "not here" not in ended.stdout
    assert "symfix: torch.export.export of Prefix failed at run.py:9: GuardOnDataDependentSymNode: " in ended.stderr
    require_proven(project, ended.stdout)
    (target,) = json.loads((project / "symfix-export" / "export.json").read_text())["targets"]
    assert {"larger", "batch = 1", "batch = 0"} <= set(target["inputs"])


def test_a_module_that_exports_twice_is_mended_where_it_fails_first(project: Path) -> None:
    (project / "tool").mkdir()
    (project / "tool" / "__init__.py").write_text("")
    (project / "tool" / "main.py").write_text(
        BEGIN + "torch.export.export(torch.nn.Linear(2, 2), (torch.ones(3, 2),))\n"
        "try:\n    torch.export.export(Prefix(), call)\nexcept Exception:\n    pass\n"
        "torch.export.export(Prefix(), (), strict=True)\n"
    )
    ended = exported(project, sys.executable, "-m", "tool.main", code=0)
    require_proven(project, ended.stdout)
    assert "failed at tool/main.py:7: " in ended.stderr


def test_a_test_is_mended_under_pytest(project: Path) -> None:
    body = "".join(f"    {line}\n" for line in FAILS.splitlines()[2:] if line)
    (project / "test_mine.py").write_text(f"{''.join(FAILS.splitlines(True)[:2])}\ndef test_it():\n{body}")
    ended = exported(project, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py", code=0)
    require_proven(project, ended.stdout)
    assert "1 failed" not in ended.stdout


DRAFTED = BEGIN + "torch.export.draft_export(Prefix(), call)\nprint('not here')\n"
FORKED = f"""{BEGIN}
import multiprocessing

process = multiprocessing.get_context("fork").Process(target=lambda: torch.export.export(Prefix(), call))
process.start()
process.join()
print("not here")
"""
THREADED = f"""{BEGIN}
import threading

thread = threading.Thread(target=lambda: torch.export.export(Prefix(), call))
thread.start()
thread.join()
print("not here")
"""
CLOSED = FAILS.replace("shapes =", "import os\nimport sys\n\nsys.stdout.close()\nos.close(2)\nshapes =", 1)


@pytest.mark.parametrize("text", [DRAFTED, FORKED, THREADED, CLOSED], ids=["drafted", "forked", "threaded", "closed"])
def test_other_calls_and_processes_are_watched_too(project: Path, text: str) -> None:
    (project / "run.py").write_text(text)
    ended = exported(project, sys.executable, "run.py", code=0)
    require_proven(project, ended.stdout)
    assert "not here" not in ended.stdout


def test_the_first_call_of_what_is_compiled_is_watched(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(
        """
import torch

@torch.compile(fullgraph=True, backend="eager")
def single(x):
    if x.shape[0] == 1:
        return x * 2
    return x + x

print(single(torch.ones(1, 4)).sum().item())
x = torch.randn(3, 4)
torch._dynamo.decorators.mark_unbacked(x, 0)
torch.compile(single._torchdynamo_orig_callable, fullgraph=True, backend="eager")(x)
"""
    )
    ended = exported(tmp_path, sys.executable, "run.py", code=0)
    assert ended.stdout.startswith("8.0\nsingle: proven\n  1. run.py:6 in single\n")
    assert "equal to the model: as given, larger, one more, x0 = 1, x0 = 0\n" in ended.stdout
    assert "symfix: torch.compile of single failed at run.py:13: " in ended.stderr


def test_a_model_that_lives_elsewhere_is_said(project: Path) -> None:
    text = BEGIN + "call = tuple(one.to('meta') for one in call)\ntorch.export.export(Prefix(), call)\n"
    (project / "run.py").write_text(text)
    ended = exported(project, sys.executable, "run.py", code=2)
    assert "Prefix: unusable: the model or its inputs are on meta; make them on the CPU\n" in ended.stdout
    assert not (project / "symfix-export").exists()


def test_without_a_call_that_fails_the_command_ends_as_it_would(project: Path) -> None:
    works = "torch.export.export(torch.nn.Linear(2, 2), (torch.ones(3, 2),))\n"
    (project / "run.py").write_text(f"import torch\n\n{works}{works}print('whole')\nraise SystemExit(7)\n")
    ended = exported(project, sys.executable, "run.py", code=7)
    assert ended.stdout == "whole\n"
    assert ended.stderr.endswith(f"{NONE_FAILED}2 calls were watched; the command exited with 7\n")


def test_a_command_that_never_imports_torch_finds_python_as_it_is(project: Path) -> None:
    (project / "sitecustomize.py").write_text("import sys\n\nsys.own = True\n")
    code = "import sys; print(sys.own, 'json' in sys.modules, 'torch' in sys.modules, len(sys.path))"
    alone = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project, capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": str(project)},
    )  # fmt: skip
    ended = exported(project, sys.executable, "-c", code, code=0, PYTHONPATH=str(project))
    assert ended.stdout == alone.stdout
    assert alone.stdout.startswith("True False False ")
    assert ended.stderr == f"{NONE_FAILED}0 calls were watched: no Python that could be watched imported torch\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "no-such-command"], "Error: no-such-command: no such command"),
        (["--", "./empty"], "Error: ./empty: Exec format error"),
        (["--"], "Error: no command stands behind --"),
        (["one.py", "--", "true"], "Error: a target does not go with a command behind --"),
        (["--report", "r.json", "--", "true"], "Error: --report does not go with a command behind --"),
        (["--unbacked", "--backend", "export", "--", "true"], "Error: non-strict export knows no unbacked sizes"),
    ],
)
def test_what_can_not_be_run_is_said_in_one_line(tmp_path: Path, words: list[str], said: str) -> None:
    (tmp_path / "empty").touch(mode=0o755)
    ended = symfix("export", *words, cwd=tmp_path, code=2)
    assert ended.stderr.splitlines()[-1].startswith(said)
    assert ended.stdout == ""


def processes(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().decode().replace("\0", " "))
        except OSError:
            continue
    return found


HANGS = "import pathlib, subprocess, time; pathlib.Path('begun').touch(); subprocess.run(['sleep', '1000'])"


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    mark = f"SYMFIX_TEST={tmp_path}"
    words = ("export", "--timeout", "5", "--", "sh", "-c", f'{sys.executable} -c "{HANGS}"; true')
    ended = symfix(*words, cwd=tmp_path, code=2, SYMFIX_TEST=str(tmp_path))
    assert ended.stderr.startswith("symfix: the command was ended after 5 s; no call of torch.export.export, ")
    assert (tmp_path / "begun").exists()
    assert processes(mark) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_runs_on_when_symfix_is_ended(tmp_path: Path, number: int) -> None:
    mark = f"SYMFIX_TEST={tmp_path}"
    running = subprocess.Popen(
        [sys.executable, "-m", "symfix", "export", "--", "sh", "-c", f'{sys.executable} -c "{HANGS}"; true'],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ, "SYMFIX_TEST": str(tmp_path)},
        # A test run in the background ignores Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    until = time.monotonic() + SECONDS
    while not (tmp_path / "begun").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert any("sleep" in words for words in processes(mark))
    running.send_signal(number)
    _, said = running.communicate(timeout=SECONDS)
    assert said == ("symfix: interrupted; nothing was written\n" if number == signal.SIGINT else "")
    while processes(mark) and time.monotonic() < until:
        time.sleep(0.05)
    assert processes(mark) == []


def test_a_closed_stdout_is_the_commands_too(project: Path) -> None:
    (project / "run.py").write_text(FAILS)
    words = [sys.executable, "-m", "symfix", "export", "--", sys.executable, "run.py"]
    ended = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *words], cwd=project, stderr=subprocess.PIPE, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert (project / "symfix-export" / "Prefix.patch").exists()


def test_a_model_that_needs_no_more_is_described_by_shapes(tmp_path: Path) -> None:
    shutil.copy(MODELS / "mask_and_branch.py", tmp_path)
    words = ["--shape", "x=6,4", "--shape", "keep=6:bool", "--dynamic", "x=0:rows", "--dynamic", "keep=0:rows"]
    ended = symfix("export", "mask_and_branch.py:Pool", *words, cwd=tmp_path, code=0)
    assert ended.stdout.startswith("mask_and_branch.py:Pool: proven\n")
    written = (tmp_path / "symfix-export" / "mask_and_branch-py-Pool.patch").read_text()
    assert (MODELS / "mask_and_branch.patch").read_text().endswith(written[written.index("diff --git") :])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--shape", "x=4,q"], "'x=4,q' is not such as x=2,7,16 or x=2,7:int64"),
        (["--shape", "x=4", "--dynamic", "x=0"], "'x=0' is not such as x=0:batch,1:length"),
        (["--dynamic", "x=0:rows"], "--dynamic goes with --shape"),
        (["--shape", "x=4,4", "--report", "r.json"], "--report takes a target"),
        (["--shape", "x=4,4"], "--shape does not fit item_and_slice:Prefix: missing a required argument: 'length'"),
        (["--shape", "x=4,4", "--shape", "length=:inty"], "--shape of 'length': torch has no dtype 'inty'"),
    ],
)
def test_shapes_that_do_not_fit_are_said(project: Path, words: list[str], said: str) -> None:
    ended = symfix("export", "item_and_slice:Prefix", *words, cwd=project, code=2)
    assert said in ended.stdout + ended.stderr
