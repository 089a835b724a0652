"""Tests of limits. A child ends within them, and neither its processes nor its files remain."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest
from running import symfix
from symfix.codemods.harness import bubblewrap, temp_folder
from symfix.codemods.harness.children.entrypoints import supervise
from symfix.codemods.harness.process_limits import CHILDREN, Ended, Limits, Network, SandboxMissing, run
from symfix.codemods.harness.temp_folder import clear_leftovers, scratch_folder
from symfix.codemods.system import sigint

MIB = 1024**2


def python(code: str, folder: Path, limits: Limits | None = None) -> Ended:
    return run([sys.executable, "-c", code], scratch=folder, limits=limits or Limits(wall=60))


def test_what_a_child_still_writes_into_goes_with_the_next_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as writing, scratch_folder(tmp_path) as folder:
        (folder / "late").write_text("")
        writing.setattr("shutil.rmtree", lambda *_, **__: None)
    assert folder.exists()
    assert clear_leftovers(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_mark_stays_with_what_an_interrupted_run_could_not_remove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, mark = tmp_path / "run", tmp_path / "run.lock"
    folder.mkdir()
    mark.touch()
    with monkeypatch.context() as writing:
        writing.setattr("shutil.rmtree", lambda *_, **__: None)
        sigint._remove({folder: mark})
    assert mark.exists()
    sigint._remove({folder: mark})
    assert list(tmp_path.iterdir()) == []


def test_temporary_files_go_with_the_scratch_folder(tmp_path: Path) -> None:
    assert python("import tempfile; print(tempfile.mkstemp()[1])", tmp_path).stdout.startswith(str(tmp_path))


def test_a_child_leaves_the_processors_to_others_where_it_is_told_to(tmp_path: Path) -> None:
    group = Path("/proc/self/autogroup")
    code = (
        f"import os, pathlib; print(os.nice(0), pathlib.Path({str(group)!r}).read_text() if {group.exists()} else '')"
    )
    own, aside = (python(code, tmp_path, Limits(wall=60, aside=asked)).stdout.split() for asked in (False, True))
    assert int(own[0]) == os.nice(0)
    assert aside[0] == "19"
    if group.exists():
        assert (own[-1], aside[-1]) == ("0", "19"), "a session of its own has a weight of its own"


@pytest.fixture
def walled(tmp_path: Path) -> None:
    if not bubblewrap.wall(tmp_path, tmp_path, offline=True):
        pytest.skip("no bubblewrap that works here")


def alive(marker: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if marker.encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def test_output_and_code_come_back(tmp_path: Path) -> None:
    ended = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)", tmp_path)
    assert (ended.code, ended.stdout, ended.stderr, ended.died) == (7, "out\n", "err\n", None)


def test_words_come_as_they_were_given(tmp_path: Path) -> None:
    words = ["", "a=b", "two\nlines", "\udcff", "ünï"]
    environment = {**os.environ, "EMPTY": "", "ODD": "x=1\n\udcfe"}
    code = "import os, sys; print(ascii((sys.argv[1:], os.environ['EMPTY'], os.environ['ODD'])))"
    command = [sys.executable, "-c", code, *words]
    ended = run(command, scratch=tmp_path, limits=Limits(wall=60), environment=environment)
    assert ended.stdout.strip() == ascii((words, "", environment["ODD"]))
    with pytest.raises(ValueError, match="holds a NUL"):
        run([sys.executable, "a\0b"], scratch=tmp_path, limits=Limits())


def test_a_segfault_is_an_answer(tmp_path: Path) -> None:
    ended = python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", tmp_path)
    assert ended.code == -signal.SIGSEGV
    assert ended.died == "ended by signal SIGSEGV"


def test_an_endless_loop_is_stopped_by_the_clock(tmp_path: Path) -> None:
    ended = python("while True: pass", tmp_path, Limits(wall=1))
    assert ended.timed_out
    assert "stopped after" in str(ended.died)


def test_an_endless_loop_is_stopped_by_its_processor_time(tmp_path: Path) -> None:
    assert python("while True: pass", tmp_path, Limits(wall=60, cpu=1)).code == -signal.SIGXCPU


def test_memory_is_limited(tmp_path: Path) -> None:
    ended = python("bytearray(4 * 1024**3)", tmp_path, Limits(memory=1024 * MIB))
    assert ended.code == 1
    assert "MemoryError" in ended.stderr


def test_a_file_is_limited(tmp_path: Path) -> None:
    code = "stream = open('big', 'wb')\nwhile True: stream.write(bytes(1024**2))"
    ended = python(code, tmp_path, Limits(file=16 * MIB))
    assert "File too large" in ended.stderr
    assert (tmp_path / "big").stat().st_size <= 16 * MIB


def test_long_output_keeps_head_and_tail(tmp_path: Path) -> None:
    ended = python("print('head' + 'x' * 1_000_000 + 'tail')", tmp_path)
    assert ended.stdout.startswith("head")
    assert ended.stdout.endswith("tail\n")
    assert "bytes left out" in ended.stdout
    assert len(ended.stdout) < 200_000


def test_there_is_no_network(tmp_path: Path) -> None:
    ended = python("import socket; socket.create_connection(('127.0.0.1', 9), 2)", tmp_path)
    if not ended.offline:
        pytest.skip("this kernel lets no process leave the network")
    # An isolated child has a loopback interface without servers.
    assert ("refused" if ended.walled else "unreachable") in ended.stderr


def test_all_files_together_are_limited(tmp_path: Path) -> None:
    code = "import time\nfor n in range(64):\n  open(f'part{n}', 'wb').write(bytes(1024**2))\ntime.sleep(60)"
    ended = python(code, tmp_path, Limits(wall=60, disk=16 * MIB))
    assert ended.died == "stopped: more than 16 MiB written"
    assert not ended.timed_out


def test_files_are_counted_whatever_others_remove(tmp_path: Path) -> None:
    # The disk regains as many bytes as the child writes, so its free bytes reveal nothing. The test removes the file,
    # since a child in bubblewrap can't.
    ballast = tmp_path / "ballast"
    ballast.write_bytes(os.urandom(24 * MIB))
    folder = tmp_path / "scratch"
    folder.mkdir()
    code = f"""
import os, time
open('begun', 'w').close()
while os.path.exists({str(ballast)!r}):
    time.sleep(0.01)
open('part', 'wb').write(os.urandom(24 * 1024**2))
time.sleep(60)
"""
    other = threading.Thread(target=remove_after, args=(folder / "begun", ballast))
    other.start()
    ended = python(code, folder, Limits(wall=60, disk=16 * MIB))
    other.join()
    assert ended.died == "stopped: more than 16 MiB written"


def remove_after(begun: Path, ballast: Path) -> None:
    """Remove a file as soon as another is there, or after a minute."""
    until = time.monotonic() + 60
    while not begun.exists() and time.monotonic() < until:
        time.sleep(0.01)
    ballast.unlink()


def test_a_command_does_not_run_on_the_installed_torch_instead(tmp_path: Path) -> None:
    shutil.copyfile(CHILDREN / "startup.py", tmp_path / "sitecustomize.py")
    environment = {
        "PYTHONPATH": str(tmp_path),
        "SYMFIX_CHILDREN": str(CHILDREN),
        "SYMFIX_VARIANT": str(tmp_path / "no"),
    }
    command = [sys.executable, "-c", "print('it ran')"]
    ended = run(command, scratch=tmp_path, limits=Limits(wall=60), environment=environment)
    assert ended.code != 0
    assert "symfix cannot change torch in this process: FileNotFoundError" in ended.stderr
    assert "it ran" not in ended.stdout


def test_the_number_of_processes_is_limited(tmp_path: Path) -> None:
    marker = f"symfix-many-{os.getpid()}"
    code = f"""
import os, time
{marker!r}
while True:
    if os.fork() == 0:
        os.setsid()
        time.sleep(300)
    time.sleep(0.01)
"""
    ended = python(code, tmp_path, Limits(wall=120, processes=40))
    assert "processes at a time" in str(ended.died)
    assert alive(marker) == []


def test_a_wall_keeps_writes_within_the_scratch_folder(tmp_path: Path, walled: None) -> None:
    scratch, beside = tmp_path / "scratch", tmp_path / "beside"
    scratch.mkdir()
    code = "import os, sys, tempfile\nopen('mine', 'w').write('x')\ntempfile.TemporaryFile().write(b'x')\n"
    ended = python(f"{code}open({str(beside)!r}, 'w')", scratch)
    assert ended.walled
    assert "Read-only file system" in ended.stderr
    assert (scratch / "mine").read_text() == "x"
    assert not beside.exists()


def test_behind_a_wall_a_child_ends_as_it_does_without(tmp_path: Path, walled: None) -> None:
    assert python("import sys; sys.exit(7)", tmp_path).code == 7
    assert python("import os; os.kill(os.getpid(), 11)", tmp_path).died == "ended by signal SIGSEGV"
    ended = python("import socket; socket.create_connection(('127.0.0.1', 9), 2)", tmp_path)
    assert ended.offline
    assert "refused" in ended.stderr or "unreachable" in ended.stderr


def test_a_required_sandbox_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "wall", lambda *_: [])
    plain = python("", tmp_path)
    limits = Limits(wall=60, network=Network.LEFT)
    if plain.offline:
        assert python("", tmp_path, limits).offline
    else:
        with pytest.raises(SandboxMissing, match="lets no process leave the network"):
            python("", tmp_path, limits)


def test_processes_are_found_without_the_kernels_list_too(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import subprocess, sys; print(subprocess.Popen(['sleep', '300']).pid, flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        try:
            expected = {child.pid, grandchild}
            assert expected <= supervise.descendants_of(os.getpid())
            monkeypatch.setattr(supervise, "told_children", supervise.children_by_parent())
            assert expected <= supervise.descendants_of(os.getpid())
            assert supervise.descendants_of(grandchild) == set()
        finally:
            os.kill(grandchild, signal.SIGKILL)
            child.communicate()


def test_detached_processes_are_killed(tmp_path: Path) -> None:
    marker = f"symfix-orphan-{os.getpid()}"
    code = f"""
import os, subprocess, sys
for _ in range(3):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)", "{marker}"], start_new_session=True)
"""
    ended = python(code, tmp_path)
    assert ended.code == 0
    assert ended.left_running == (0 if ended.walled else 3)
    assert alive(marker) == []


def test_a_killed_parent_takes_its_children_along(tmp_path: Path) -> None:
    marker = f"symfix-abandoned-{os.getpid()}"
    code = f"""
import sys
from pathlib import Path
from symfix.codemods.harness.process_limits import Limits, run
from symfix.codemods.harness.temp_folder import scratch_folder
with scratch_folder(Path({str(tmp_path)!r})) as folder:
    run([sys.executable, "-c", "import time; time.sleep(300)", {marker!r}], scratch=folder, limits=Limits())
"""
    parent = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    wait_for(lambda: len(alive(marker)) > 1)
    parent.kill()
    parent.wait()
    wait_for(lambda: not alive(marker))
    assert len(list(tmp_path.glob("run-*"))) == 2
    assert clear_leftovers(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_living_owner_keeps_its_folder(tmp_path: Path) -> None:
    with scratch_folder(tmp_path) as first:
        (first / "mine").write_text("x")
        with scratch_folder(tmp_path) as second:
            assert first != second
        assert (first / "mine").read_text() == "x"
    assert list(tmp_path.iterdir()) == []


def wait_for(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


# All users share the temporary folder.


def test_a_link_in_place_of_the_scratch_folder_empties_nobodys_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    victim = tmp_path / "victim"
    (victim / "papers").mkdir(parents=True)
    (victim / "papers" / "thesis.tex").write_text("years of work")
    (victim / "papers.lock").touch()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / f"symfix-{os.geteuid()}").symlink_to(victim)
    with pytest.raises(PermissionError, match="is no folder"), scratch_folder():
        pytest.fail("it was taken")
    assert (victim / "papers" / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o777, 0o1777])
def test_a_scratch_folder_that_others_can_open_is_not_taken(tmp_path: Path, mode: int) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(mode)
    with pytest.raises(PermissionError, match="is open to others"), scratch_folder(tmp_path / "open"):
        pytest.fail("it was taken")


def test_somebody_elses_scratch_folder_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "theirs").mkdir(mode=0o700)
    monkeypatch.setattr(temp_folder.os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(PermissionError, match="belongs to somebody else"), scratch_folder(tmp_path / "theirs"):
        pytest.fail("it was taken")


def test_the_command_line_says_it_in_one_line(tmp_path: Path) -> None:
    (tmp_path / f"symfix-{os.geteuid()}").symlink_to(tmp_path)
    (tmp_path / "other").mkdir()
    said = symfix("doctor", cwd=tmp_path / "other", code=2, TMPDIR=str(tmp_path)).stderr
    assert (
        said
        == f"symfix: {tmp_path}/symfix-{os.geteuid()}: is no folder: remove it, or set TMPDIR to a folder of your own\n"
    )


def test_a_new_scratch_folder_is_the_users_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with scratch_folder(tmp_path / "new") as folder:
            assert (tmp_path / "new").stat().st_mode & 0o077 == folder.stat().st_mode & 0o077 == 0
    finally:
        os.umask(before)
