"""Tests of `series send` with a real bare remote and a stand-in for `gh` that records its calls."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import standin
from projects import project, say, torchlike
from running import git, symfix
from symfix.codemods.workflows.pull_requests.series import plan
from symfix.codemods.workflows.pull_requests.series.build_state import load
from symfix.codemods.workflows.pull_requests.series.builder import SeriesBuilder, SeriesOptions, build, fresh_states
from symfix.codemods.workflows.pull_requests.series.forge import Ghstack, GitHub
from symfix.codemods.workflows.pull_requests.series.git import Repository
from symfix.codemods.workflows.pull_requests.series.plan import PullRequestPlan
from symfix.codemods.workflows.pull_requests.series.submission import Sender, Sent


class Hub:
    """Stand-in for `gh`, with access to its calls and its pull requests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        shutil.copy(standin.__file__, folder / "gh")
        (folder / "gh").write_text(f"#!{sys.executable}\n" + (folder / "gh").read_text())
        (folder / "gh").chmod(0o755)
        self.write(mood="", requests=[], calls=[])

    def read(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads((self.folder / "hub.json").read_text())
        return value

    def write(self, **more: object) -> None:
        old = self.read() if (self.folder / "hub.json").exists() else {}
        (self.folder / "hub.json").write_text(json.dumps({**old, **more}))

    @property
    def created(self) -> list[list[str]]:
        return [call for call in self.read()["calls"] if call[:2] == ["pr", "create"]]


class Clock:
    """Clock that advances by sleeping, and by one second at each call."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        self.now += 1
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with a built series of eight requests."""
    files = torchlike(1)
    for number in range(5):
        text = (files["torch/nn/checked0.py"] + files["torch/_refs/smaller0.py"]).replace("take0", f"take{number}")
        files[f"torch/fft/more{number}.py"] = text
    folder = project(tmp_path_factory.mktemp("finished") / "repo", files)
    symfix("series", "plan", "torch", cwd=folder, code=0)
    workshop, whole = opened(folder)
    wishes = SeriesOptions(
        whole.base, None, lambda path, before, without: None, commands=("symfix verify --base HEAD~1",)
    )
    build(whole, workshop, wishes)
    return folder


def opened(repo: Path) -> tuple[SeriesBuilder, PullRequestPlan]:
    workshop = SeriesBuilder(repo / ".git/symfix/main", Repository.around(repo))
    return workshop, plan.from_json(workshop.plan.read_text())


@pytest.fixture
def repo(finished: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-a", str(finished), str(tmp_path / "repo")], check=True)
    git(tmp_path, "clone", "-q", "--bare", "--no-tags", "--single-branch", str(tmp_path / "repo"), "remote.git")
    git(tmp_path / "repo", "remote", "add", "origin", str(tmp_path / "remote.git"))
    return tmp_path / "repo"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    found = Hub(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{found.folder}{os.pathsep}{os.environ['PATH']}")
    return found


Send = Callable[[int], Sent]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def send(repo: Path, clock: Clock) -> Send:
    workshop, whole = opened(repo)
    record = load(workshop.record)
    assert record is not None
    sender = Sender(workshop, GitHub(repo, "main", "pytorch/pytorch"), "origin", clock=clock, sleep=clock.sleep)

    def one(number: int) -> Sent:
        request = whole.requests[number - 1]
        return sender.send(request, fresh_states(record, whole, workshop.repository)[request.id])

    return one


def remote(repo: Path) -> list[str]:
    rows = say(repo, "ls-remote", "--heads", "origin", "refs/heads/symfix/*").splitlines()
    return [row.split("refs/heads/")[1] for row in rows]


def test_a_draft_is_opened_with_all_that_it_needs(repo: Path, hub: Hub, send: Send) -> None:
    sent = send(1)
    _, whole = opened(repo)
    request = whole.requests[0]
    assert (sent.outcome, sent.detail) == ("opened", "https://github.com/pytorch/pytorch/pull/1")
    assert remote(repo) == [request.branch]
    assert say(repo, "rev-parse", request.branch) == say(repo, "rev-parse", f"origin/{request.branch}")
    (call,) = hub.created
    assert "--draft" in call and call[call.index("--title") + 1] == request.title
    assert [call[at + 1] for at, word in enumerate(call) if word == "--label"] == list(request.labels)
    body = hub.read()["requests"][0]["body"]
    assert body.endswith(f"\n\nSymfix-Id: {request.id}\n") and "symfix verify --base HEAD~1" in body


def test_asked_twice_it_is_opened_once(repo: Path, hub: Hub, send: Send) -> None:
    send(1)
    assert send(1).outcome == "there already"
    for journal in repo.glob(".git/symfix/main/sent.jsonl"):
        journal.unlink()
    assert send(1).outcome == "there already"
    # Another person's machine has neither the journal nor the branch, but the trailer identifies the commit.
    rows = hub.read()["requests"]
    hub.write(requests=[{**rows[0], "head": "renamed", "unindexed": False, "state": "MERGED"}])
    assert send(1).detail.endswith("(merged)")
    assert len(hub.created) == 1


def test_one_in_thirty_seconds(hub: Hub, send: Send, clock: Clock) -> None:
    send(1)
    assert clock.slept == []
    send(2)
    assert len(clock.slept) == 1 and 25 < clock.slept[0] <= 30
    clock.now += 100
    send(3)
    assert len(clock.slept) == 1


def test_at_most_five_are_open(repo: Path, hub: Hub, send: Send) -> None:
    for number in range(1, 6):
        assert send(number).outcome == "opened"
    # A search does not find a new request at once. A late index must not cause a sixth one.
    assert send(6).outcome == "waiting"
    assert len(remote(repo)) == 5
    rows = hub.read()["requests"]
    hub.write(requests=[{**rows[0], "state": "MERGED"}, *({**row, "unindexed": False} for row in rows[1:])])
    assert send(6).outcome == "opened"


def test_a_refusal_is_said_and_may_be_tried_again(hub: Hub, send: Send) -> None:
    hub.write(mood="refuse")
    sent = send(1)
    assert sent.outcome == "refused" and "secondary rate limit" in sent.detail
    hub.write(mood="")
    assert send(1).outcome == "opened"
    assert len(hub.read()["requests"]) == 1


def test_a_lost_answer_opens_nothing_twice(hub: Hub, send: Send) -> None:
    hub.write(mood="lose")
    assert send(1).outcome == "opened"
    assert len(hub.read()["requests"]) == 1


def test_killed_between_push_and_opening_it_goes_on(repo: Path, hub: Hub, send: Send) -> None:
    _, whole = opened(repo)
    git(repo, "push", "-q", "origin", whole.requests[0].branch)
    assert send(1).outcome == "opened"


def test_a_branch_that_a_person_changed_at_the_remote_stays(repo: Path, hub: Hub, send: Send) -> None:
    _, whole = opened(repo)
    branch = whole.requests[0].branch
    git(repo, "push", "-q", "origin", f"main:refs/heads/{branch}")
    sent = send(1)
    assert sent.outcome == "refused" and "which a person made" in sent.detail
    assert hub.created == []


def test_no_gh_is_one_line(send: Send, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    git_program = shutil.which("git")
    assert git_program
    (tmp_path / "few/git").symlink_to(git_program)
    monkeypatch.setenv("PATH", str(tmp_path / "few"))
    assert send(1).detail == "no gh: install it and sign in with it"


def test_a_dry_run_calls_nobody(repo: Path, hub: Hub) -> None:
    ended = symfix("series", "send", "1", "2", "--dry-run", cwd=repo, code=0)
    assert ended.stdout.count("gh pr create") == 2 and "git push" in ended.stdout
    ended = symfix("series", "send", "1", "--dry-run", "--ghstack", cwd=repo, code=0)
    assert ended.stdout == "ghstack submit --draft --no-stack HEAD\n"
    assert hub.read()["calls"] == [] and remote(repo) == []


def test_sending_is_a_persons_act(repo: Path, hub: Hub) -> None:
    ended = symfix("series", "send", "1", cwd=repo, code=2, text="y\n")
    assert "sending is a person's act" in ended.stderr
    symfix("series", "send", cwd=repo, code=2)
    assert "no pull request 'x'" in symfix("series", "send", "x", cwd=repo, code=2).stderr
    assert hub.read()["calls"] == []
    mother, child = pty.openpty()
    words = [sys.executable, "-m", "symfix.codemods.cli", "series", "send", "1", "2"]
    process = subprocess.Popen(words, cwd=repo, stdin=child, stdout=subprocess.PIPE, stderr=child)
    os.close(child)
    os.write(mother, b"n\nn\n")
    said, _ = process.communicate()
    os.close(mother)
    assert process.returncode == 1 and said.decode().count("not sent") == 2
    assert hub.created == []
    ended = symfix("series", "send", "1", "--yes", cwd=repo, code=0)
    assert "https://github.com/pytorch/pytorch/pull/1" in ended.stdout
    assert "pull/1" in symfix("series", "status", cwd=repo, code=0).stdout


def test_ghstack_gets_one_commit_in_a_worktree_of_ours(repo: Path, hub: Hub, clock: Clock) -> None:
    program = hub.folder / "ghstack"
    program.write_text(f'#!/bin/sh\ngit log --format=%s -2 > "{hub.folder}/said"\npwd >> "{hub.folder}/said"\n')
    program.chmod(0o755)
    workshop, whole = opened(repo)
    record = load(workshop.record)
    assert record is not None
    tree = workshop.repository.scratch_worktree(workshop.folder / "sending", whole.base)
    head = say(repo, "rev-parse", "HEAD")
    sender = Sender(workshop, Ghstack(tree, GitHub(repo, "main")), None, clock=clock, sleep=clock.sleep)
    request = whole.requests[1]
    assert sender.send(request, record.of(request.id)).outcome == "opened"
    assert (hub.folder / "said").read_text().splitlines() == [request.title, "first", str(tree)]
    assert say(repo, "rev-parse", "HEAD") == head and remote(repo) == []


def test_no_token_is_ever_read() -> None:
    from symfix.codemods.workflows.pull_requests import series

    for path in Path(str(series.__file__)).parent.glob("*.py"):
        assert not {"TOKEN", "GH_", "GITHUB_", "netrc", "credential"} & set(path.read_text().split())
        assert "_TOKEN" not in path.read_text()
