from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest
from symfix.codemods.model.edit import Edit
from symfix.codemods.model.outcome import Changed, Refused
from symfix.codemods.model.rule import Fix, Safety
from symfix.codemods.model.source_file import SourceFile
from symfix.codemods.system import atomic_write

FIX = Fix("r", 1, Safety.SAFE, (Edit(0, 1, b""),), "m")


def change(path: Path, before: bytes = b"before\n", after: bytes = b"after\r\n\xef\xbb\xbf\n") -> Changed:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    return Changed(SourceFile(path, before), after, (FIX,))


def refusal(outcome: Changed | Refused) -> str:
    assert isinstance(outcome, Refused)
    return outcome.reason


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.suffix == ".symfix"]


def test_bytes_and_mode_arrive(tmp_path: Path) -> None:
    outcome = change(tmp_path / "a.cpp")
    outcome.source.path.chmod(0o754)
    assert atomic_write.write(outcome) is outcome
    assert outcome.source.path.read_bytes() == outcome.after
    assert stat.S_IMODE(outcome.source.path.stat().st_mode) == 0o754
    assert leftovers(tmp_path) == []


def test_what_a_killed_run_left_beside_the_file_goes(tmp_path: Path) -> None:
    killed = subprocess.Popen(["true"])
    killed.wait()
    outcome = change(tmp_path / "a.cpp")
    for name in (f".a.cpp.{killed.pid}-x.symfix", f".a.cpp.{os.getpid()}-x.symfix", f".b.cpp.{killed.pid}-x.symfix"):
        (tmp_path / name).write_bytes(b"half a fi")
    atomic_write.write(outcome)
    assert sorted(leftovers(tmp_path)) == [f".a.cpp.{os.getpid()}-x.symfix", f".b.cpp.{killed.pid}-x.symfix"]


def test_a_symlink_stays_one(tmp_path: Path) -> None:
    outcome = change(tmp_path / "real.cpp")
    link = tmp_path / "link.cpp"
    link.symlink_to("real.cpp")
    assert isinstance(atomic_write.write(Changed(SourceFile(link, b"before\n"), b"after", (FIX,))), Changed)
    assert link.is_symlink()
    assert outcome.source.path.read_bytes() == b"after"


def test_a_link_that_leaves_the_repository_is_refused(tmp_path: Path) -> None:
    change(tmp_path / "outside.cpp")
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    link = tmp_path / "repo" / "sub" / "link.cpp"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "outside.cpp")
    outcome = atomic_write.write(Changed(SourceFile(link, b"before\n"), b"after", (FIX,)))
    assert refusal(outcome) == "outside-repository"
    assert (tmp_path / "outside.cpp").read_bytes() == b"before\n"


def test_a_link_within_the_repository_is_followed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    change(tmp_path / "one" / "real.cpp")
    (tmp_path / "two").symlink_to("one")
    through = Changed(SourceFile(tmp_path / "two" / "real.cpp", b"before\n"), b"after", (FIX,))
    assert isinstance(atomic_write.write(through), Changed)
    assert (tmp_path / "one" / "real.cpp").read_bytes() == b"after"


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    outcome = change(tmp_path / "a.cpp")
    outcome.source.path.chmod(0o444)
    assert refusal(atomic_write.write(outcome)) == "read-only"
    assert outcome.source.path.read_bytes() == b"before\n"


def test_someone_elses_work_is_not_overwritten(tmp_path: Path) -> None:
    outcome = change(tmp_path / "a.cpp")
    outcome.source.path.write_bytes(b"theirs\n")
    assert refusal(atomic_write.write(outcome)) == "changed-meanwhile"
    assert outcome.source.path.read_bytes() == b"theirs\n"


def test_nor_is_it_in_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = change(tmp_path / "a.cpp")

    def fsync_while_they_write(handle: int) -> None:
        outcome.source.path.write_bytes(b"theirs, later\n")

    monkeypatch.setattr(atomic_write.os, "fsync", fsync_while_they_write)
    assert refusal(atomic_write.write(outcome)) == "changed-meanwhile"
    assert outcome.source.path.read_bytes() == b"theirs, later\n"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("step", ["fsync", "fchmod"])
def test_an_interrupted_write_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    outcome = change(tmp_path / "a.cpp")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic_write.os, step, interrupt)
    with pytest.raises(KeyboardInterrupt):
        atomic_write.write(outcome)
    assert outcome.source.path.read_bytes() == b"before\n"
    assert leftovers(tmp_path) == []


def test_a_full_disk_is_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = change(tmp_path / "a.cpp")

    def no_space(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic_write.os, "fsync", no_space)
    refused = atomic_write.write(outcome)
    assert isinstance(refused, Refused)
    assert "No space left on device" in refused.detail
    assert outcome.source.path.read_bytes() == b"before\n"
    assert leftovers(tmp_path) == []


def test_a_file_that_went_away_is_a_refusal(tmp_path: Path) -> None:
    outcome = change(tmp_path / "a.cpp")
    outcome.source.path.unlink()
    assert refusal(atomic_write.write(outcome)) == "unwritable"
    assert not outcome.source.path.exists()
