"""Tests of ``--executor dask://HOST:PORT``: no result is lost if one of two worker processes is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask
import pytest
from deadly import deadly, once_deadly, raising
from distributed import LocalCluster
from indexes import cache_with_indexes
from running import SHAPES, symfix
from symfix.codemods.system import cache_folder
from symfix.codemods.system.cluster import NoCluster, WorkerLost, cluster, spread
from symfix.codemods.torchapi.torch_finder import locate

ANSWERS = 60.0
TOP = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Yield the address of a scheduler with two worker processes. After a death it runs a task once more."""
    settings = {"distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as found,
    ):
        yield found.scheduler_address.replace("tcp://", "dask://")


def test_a_task_whose_worker_died_has_a_second_try(address: str, tmp_path: Path) -> None:
    with cluster(address) as workers:
        assert workers.submit(once_deadly, [tmp_path / "a"]).result(ANSWERS) == ["a"]


def test_two_dead_workers_are_the_verdict_of_one_item_and_not_of_the_run(address: str) -> None:
    results: dict[str, str] = {}
    with cluster(address) as workers:
        parts = [["a", "b"], ["c", "bad", "d"], ["e"]]
        for part, answers in spread(workers, deadly, parts, lost=lambda item: f"lost {item}"):
            results.update(zip(part, answers, strict=True))
        assert results == {"a": "A", "b": "B", "c": "C", "bad": "lost bad", "d": "D", "e": "E"}
        with pytest.raises(WorkerLost):
            workers.submit(deadly, ["bad"]).result(ANSWERS)


def test_what_a_task_raises_comes_back(address: str) -> None:
    with cluster(address) as workers, pytest.raises(KeyError, match="a"):
        list(spread(workers, raising, [["a"]], lost=str))


def workers_of(address: str) -> list[int]:
    with cluster(address) as found:
        return sorted({found.submit(os.getpid).result(ANSWERS) for _ in range(20)})


def test_check_says_the_same_as_here_while_a_worker_is_killed(address: str, tmp_path: Path) -> None:
    for number in range(24):
        (tmp_path / "src").mkdir(exist_ok=True)
        (tmp_path / "src" / f"m{number}.py").write_text(SHAPES + f"# {number}\n" * 3000)
    (tmp_path / "src" / "binary.py").write_bytes(b"\0torch._check_is_size")
    one, two = (str(cache_with_indexes(tmp_path / name)) for name in ("one", "two"))
    here = symfix("check", "--format", "json", "src", cwd=tmp_path, code=1, XDG_CACHE_HOME=one)
    (victim, *_) = workers_of(address)
    with ThreadPoolExecutor(1) as pool:
        words = ("check", "--executor", address, "--format", "json", "src")
        asked = pool.submit(symfix, *words, cwd=tmp_path, code=1, XDG_CACHE_HOME=two)
        time.sleep(1.0)
        os.kill(victim, signal.SIGKILL)
        there = asked.result()
    assert there.stdout == here.stdout
    assert json.loads(there.stdout)["summary"]["fixes"] == 24


def test_hunt_says_the_same_as_here_while_a_worker_is_killed(address: str, tmp_path: Path) -> None:
    names = ("abs", "chunk", "cov", "masked.sum", "fft.fft", "equal")
    words = ("hunt", *names, "--samples", "2", "--format", "json")
    one, two = (str(cache_with_indexes(tmp_path / name)) for name in ("one", "two"))
    here = symfix(*words, cwd=tmp_path, code=1, XDG_CACHE_HOME=one)
    (victim, *_) = workers_of(address)
    with ThreadPoolExecutor(1) as pool:
        far = pool.submit(symfix, *words, "--executor", address, cwd=tmp_path, code=1, XDG_CACHE_HOME=two)
        time.sleep(6.0)
        os.kill(victim, signal.SIGKILL)
        there = far.result()
    documents = [json.loads(ended.stdout) for ended in (here, there)]
    for document in documents:
        document.pop("seconds", None)
    assert documents[0] == documents[1]


def killed(address: str, after: float, *words: str, cwd: Path, **surroundings: str) -> str:
    """Return the output of a command on the cluster. One of its workers is killed after some seconds."""
    (victim, *_) = workers_of(address)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(symfix, *words, "--executor", address, cwd=cwd, code=0, **surroundings)
        time.sleep(after)
        os.kill(victim, signal.SIGKILL)
        return str(asked.result().stdout)


def test_a_repair_is_the_same_as_here_while_a_worker_is_killed(address: str, tmp_path: Path) -> None:
    patches = []
    for name in ("here", "there"):
        words = ("repair", "roll", "--output", str(tmp_path / name))
        place = cache_with_indexes(tmp_path / f"cache-{name}")
        if name == "here":
            symfix(*words, cwd=tmp_path, code=0, XDG_CACHE_HOME=str(place))
        else:
            # A repair hunts on this machine in both cases.
            hunts = Path("symfix", cache_folder.LAYOUT, "hunts")
            shutil.copytree(tmp_path / "cache-here" / hunts, place / hunts)
            said = killed(address, 12.0, *words, cwd=tmp_path, XDG_CACHE_HOME=str(place))
            assert "proven fixed: 1 of 1" in said
        patches.append({path.name: path.read_text() for path in (tmp_path / name).glob("*.patch")})
    assert patches[0] == patches[1] and len(patches[0]) == 1


def test_a_proof_and_a_model_work_there_too(address: str, tmp_path: Path) -> None:
    package = locate(None, None).package
    folder = tmp_path / "torch"
    (folder / "masked").mkdir(parents=True)
    text = (package / "masked" / "_ops.py").read_text()
    (folder / "masked" / "_ops.py").write_text(text)
    for words in (("init", "-q"), ("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (folder / "masked" / "_ops.py").write_text("if True:".join(text.rsplit("if mask.shape != input.shape:", 1)))
    words = ("verify", "--op", "masked.median", "--format", "json", "--torch-root", ".", "torch/masked/_ops.py")
    seen = []
    for name, more in (("here", ()), ("there", ("--executor", address))):
        cache = str(cache_with_indexes(tmp_path / name))
        said = symfix(*words, *more, cwd=tmp_path, code=0, XDG_CACHE_HOME=cache).stdout
        found = json.loads(said)
        assert found["verdict"] == "proven"
        seen.append([(one["subject"], one["after"]["passed"]) for one in found["checks"]])
    assert seen[0] == seen[1]
    model = tmp_path / "models"
    shutil.copytree(TOP / "golden" / "models", model)
    told = symfix("export", "mask_and_branch.py", "--executor", address, "--output", "out", cwd=model, code=0).stdout
    assert "proven" in told
    assert told == symfix("export", "mask_and_branch.py", "--output", "out", cwd=model, code=0).stdout


@pytest.mark.parametrize("wrong", ["dask://", "tcp://localhost:1", "dask://localhost"])
def test_an_address_that_is_none(wrong: str) -> None:
    with pytest.raises(NoCluster, match="dask://HOST:PORT"), cluster(wrong):
        pass


def test_what_does_not_go_with_a_cluster_is_said(address: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(SHAPES)
    said = symfix("check", "--executor", address, "--torch-root", ".", "m.py", cwd=tmp_path, code=2).stderr
    assert "the torch that is installed here and on the workers" in said
    said = symfix("check", "--executor", "tcp://x:1", "m.py", cwd=tmp_path, code=2).stderr
    assert "an address is dask://HOST:PORT" in said
