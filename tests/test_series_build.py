"""Tests of `series plan` and `series build` on a small repository."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from projects import CHECKED, branches, commit, project, say, start, torchlike, traces
from running import git, symfix
from symfix.codemods.harness.observation import Observation
from symfix.codemods.verify.change import Change, Check, Verdict, Verification
from symfix.codemods.workflows.pull_requests.series import plan
from symfix.codemods.workflows.pull_requests.series.build_state import BuildState, Record
from symfix.codemods.workflows.pull_requests.series.builder import SeriesBuilder, SeriesOptions, build, fresh_states
from symfix.codemods.workflows.pull_requests.series.git import Repository
from symfix.codemods.workflows.pull_requests.series.plan import PullRequest


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a repository with a plan. Tests that modify it make a copy."""
    folder = project(tmp_path_factory.mktemp("planned") / "repo", torchlike())
    symfix("series", "plan", "torch", cwd=folder, code=0)
    return folder


@pytest.fixture
def repo(planned: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-a", str(planned), str(tmp_path / "repo")], check=True)
    text = (tmp_path / "repo/.git/symfix/main/plan.json").read_text()
    (tmp_path / "repo/.git/symfix/main/plan.json").write_text(text.replace(str(planned), str(tmp_path / "repo")))
    return tmp_path / "repo"


def made(repo: Path, *words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    return symfix("series", "build", "--no-verify", "--no-page", *words, cwd=repo, code=code)


def states(repo: Path) -> dict[str, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "symfix.codemods.cli", "series", "status", "--format", "json"],
        cwd=repo, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return {row["branch"].split("/")[2]: row["state"] for row in json.loads(ended.stdout)["requests"]}


def workshop_of(repo: Path) -> tuple[SeriesBuilder, plan.PullRequestPlan]:
    workshop = SeriesBuilder(repo / ".git/symfix/main", Repository.around(repo))
    return workshop, plan.from_json(workshop.plan.read_text())


Prove = Callable[[Sequence[Change], Path, tuple[str, ...]], Verification]


def built(repo: Path, prove: Prove, **more: object) -> Record:
    workshop, whole = workshop_of(repo)
    wishes = SeriesOptions(base=whole.base, prove=prove, redo=lambda path, before, without: None)
    with workshop.alone():
        return build(whole, workshop, replace(wishes, **more))  # type: ignore[arg-type]


def verdict(changes: Sequence[Change], what: Verdict) -> Verification:
    check = Check("eager", "op", Observation(False, "no"), Observation(True))
    return Verification(what, "said", tuple(str(one.path) for one in changes), (check,), torch="2.13.0 x")


def test_the_plan_groups_and_a_person_can_read_it(repo: Path) -> None:
    value = json.loads((repo / ".git/symfix/main/plan.json").read_text())
    assert [(one["title"], len(one["parts"])) for one in value["requests"]] == [
        ("[DDE] Fix data-dependent errors in first and second", 1),
        ("[DDE] Fix data-dependent errors in torch/nn", 3),
        ("[DDE] Fix data-dependent errors in torch/_refs", 3),
    ]
    hunk = value["requests"][1]["parts"][0]["hunks"][0]
    assert hunk == {
        "line": 5,
        "old": ["    torch._check_is_size(x.shape[0])\n"],
        "new": ["    torch._check(x.shape[0] >= 0)\n"],
        "why": [0],
    }


def test_the_branches_hold_one_commit_each_and_nobody_elses_files_are_touched(repo: Path) -> None:
    before = traces(repo)
    made(repo)
    assert traces(repo) == before
    found = branches(repo)
    assert len(found) == 4
    for name in found:
        if not name.endswith("/all"):
            assert say(repo, "rev-list", "--count", f"main..{name}") == "1"
            assert "Symfix-Id: " in say(repo, "log", "-1", "--format=%(trailers)", name)
    assert say(repo, "rev-list", "--count", "main..symfix/main/all") == "3"
    assert "_check(x.shape[0] >= 0)" in say(repo, "show", "symfix/main/all:torch/nn/checked0.py")


def test_building_again_makes_the_same_commits(repo: Path) -> None:
    made(repo)
    first = branches(repo)
    made(repo)
    assert branches(repo) == first
    subprocess.run(["rm", "-r", ".git/symfix/main/built.json", ".git/symfix/main/made"], cwd=repo, check=True)
    made(repo)
    assert branches(repo) == first


def test_each_patch_applies_alone_and_all_in_a_row(repo: Path, tmp_path: Path) -> None:
    made(repo)
    patches = sorted((repo / ".git/symfix/main/patches").glob("*.patch"))
    assert [path.name[:5] for path in patches] == ["0000-", "0001-", "0002-", "0003-"]
    assert "*** " not in patches[0].read_text()
    for number, chosen in enumerate([*([patch] for patch in patches[1:]), patches[1:]]):
        clone = tmp_path / f"clone{number}"
        git(tmp_path, "clone", "-q", str(repo), str(clone))
        git(clone, "am", "-q", "--keep-non-patch", *map(str, chosen))
        assert say(clone, "log", "-1", "--format=%s").startswith("[DDE] Fix")
    assert say(clone, "rev-parse", "HEAD^{tree}") == say(repo, "rev-parse", "symfix/main/all^{tree}")


def test_what_a_person_put_on_a_branch_stays(repo: Path) -> None:
    made(repo)
    name = next(name for name in branches(repo) if "checked" in name or "torch-nn" in name)
    git(repo, "branch", "-f", name, "main")
    ended = made(repo)
    assert "which a person made" in ended.stdout
    assert branches(repo)[name] == say(repo, "rev-parse", "main")
    git(repo, "branch", "-D", name)
    assert "kept" not in made(repo).stdout


def test_a_branch_that_somebody_stands_on_is_not_moved(repo: Path) -> None:
    made(repo)
    name = next(name for name in branches(repo) if "torch-nn" in name)
    git(repo, "checkout", "-q", name)
    before = traces(repo)
    (repo / "new.txt").write_text("x")
    git(repo, "commit-tree", "HEAD^{tree}", "-p", "main", "-m", "other")
    workshop, whole = workshop_of(repo)
    other = replace(whole, made=whole.made + 1)
    workshop.plan.write_text(plan.to_json(other))
    assert f"is checked out at {repo}" in made(repo).stdout
    (repo / "new.txt").unlink()
    assert traces(repo) == before


def test_a_rebase_moves_the_same_branches(repo: Path) -> None:
    made(repo)
    first = branches(repo)
    path = repo / "torch/nn/checked0.py"
    path.write_text("# A comment that came from elsewhere.\n" + path.read_text())
    base = commit(repo, "meanwhile")
    made(repo, "--base", "HEAD")
    again = branches(repo)
    assert set(again) == set(first)
    assert not set(again.values()) & set(first.values())
    assert {say(repo, "rev-parse", f"{name}^") for name in again if not name.endswith("/all")} == {base}
    name = next(name for name in again if "torch-nn" in name)
    text = say(repo, "show", f"{name}:torch/nn/checked0.py")
    assert text.startswith("# A comment") and "_check(x.shape[0] >= 0)" in text


def test_a_conflict_is_said_and_nothing_of_its_request_is_built(repo: Path) -> None:
    made(repo)
    first = branches(repo)
    path = repo / "torch/nn/checked0.py"
    path.write_text(path.read_text().replace("torch._check_is_size(x.shape[0])", "assert x.shape[0] > 1"))
    commit(repo, "meanwhile")
    ended = made(repo, "--base", "HEAD", code=1)
    assert "torch/nn/checked0.py: the text has changed at the same lines; plan again" in ended.stdout
    again = branches(repo)
    name = next(name for name in again if "torch-nn" in name)
    assert again[name] == first[name]
    assert states(repo)[name.split("/")[2]] == "conflict"
    assert say(repo, "rev-list", "--count", "main..symfix/main/all") == "2"


def test_what_the_base_has_already_has_landed(repo: Path) -> None:
    made(repo)
    name = next(name for name in branches(repo) if "torch-nn" in name)
    git(repo, "merge", "-q", "--ff-only", name)
    made(repo, "--base", "HEAD")
    assert states(repo)[name.split("/")[2]] == "landed"


def test_what_is_not_borne_out_is_held(repo: Path) -> None:
    calls = []

    def prove(changes: Sequence[Change], tree: Path, request: PullRequest | None) -> Verification:
        calls.append([one.path.name for one in changes])
        assert all(one.path.read_bytes() == one.before for one in changes)
        bad = any(one.path.name in ("smaller0.py", "both.py") for one in changes)
        return verdict(changes, Verdict.REGRESSED if bad else Verdict.PROVEN)

    before = traces(repo)
    record = built(repo, prove)
    assert traces(repo) == before
    _, whole = workshop_of(repo)
    both, nn, refs = (record.of(one.id) for one in whole.requests)
    assert (both.state, both.reason) == (BuildState.HELD, "regressed: said")
    assert nn.state is BuildState.BUILT
    assert refs.state is BuildState.BUILT
    assert refs.dropped == ("torch/_refs/smaller0.py: regressed: said",)
    assert whole.requests[0].branch not in branches(repo)
    assert "smaller0" not in say(repo, "diff", "--name-only", "main", whole.requests[2].branch)
    assert record.union is not None and record.union.verdict is Verdict.PROVEN
    assert calls[-1] == ["smaller1.py", "smaller2.py", "checked0.py", "checked1.py", "checked2.py"] or sorted(
        calls[-1]
    ) == ["checked0.py", "checked1.py", "checked2.py", "smaller1.py", "smaller2.py"]


def test_the_message_says_what_was_seen(repo: Path) -> None:
    built(repo, lambda changes, tree, request: verdict(changes, Verdict.PROVEN))
    text = " ".join(say(repo, "log", "-1", "--format=%B", "symfix/main/all").split())
    assert "Proven with torch 2.13.0: op failed before (eager; no) and passes after" in text


def test_what_nothing_can_be_said_about_needs_a_word(repo: Path) -> None:
    def unsure(changes: Sequence[Change], tree: Path, request: PullRequest | None) -> Verification:
        return replace(verdict(changes, Verdict.UNVERIFIABLE), checks=())

    assert {one.state for one in built(repo, unsure).standings.values()} == {BuildState.HELD}
    assert branches(repo) == {}
    assert {one.state for one in built(repo, unsure, unproven=True).standings.values()} == {BuildState.BUILT}


def test_decisions_leave_out_one_fix_and_take_the_rest(repo: Path) -> None:
    _, whole = workshop_of(repo)
    request = whole.requests[0]
    reasons = {one.rule: one for one in request.parts[0].reasons}
    unwanted = next(rule for rule in reasons if rule.endswith("min_max"))
    row = {
        "request": request.id,
        "path": request.paths[0],
        "verdict": "rejected",
        "fixes": [{"rule": unwanted, "start": reasons[unwanted].start}],
    }
    file = repo / ".git/decisions.json"
    file.write_text(json.dumps({"version": 1, "series": "main", "decisions": [row]}))
    ended = made(repo, "--decisions", str(file))
    text = say(repo, "show", f"{request.branch}:{request.paths[0]}")
    assert "_check(x.shape[0] >= 0)" in text and "sym_min" not in text and "rows = min(" in text
    assert "1 fix that a reviewer does not want" in ended.stdout
    rows = [{**row, "fixes": [{"rule": one.rule, "start": one.start} for one in reasons.values()]}]
    file.write_text(json.dumps({"version": 1, "series": "main", "decisions": rows}))
    made(repo, "--decisions", str(file))
    assert states(repo)[request.branch.split("/")[2]] == "rejected"
    assert symfix("series", "build", "--decisions", "pyproject", cwd=repo, code=2).stderr


def test_two_builds_do_not_meet(repo: Path) -> None:
    workshop, _ = workshop_of(repo)
    with workshop.alone():
        assert "another symfix works in" in made(repo, code=2).stderr


def test_a_dirty_file_or_no_repository_is_one_clear_line(repo: Path, tmp_path: Path) -> None:
    (repo / "torch/nn/checked0.py").write_text(CHECKED.format(name="other"))
    assert "not committed" in symfix("series", "plan", "torch", cwd=repo, code=2).stderr
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare/m.py").write_text(CHECKED.format(name="f"))
    assert "no git repository" in symfix("series", "plan", "m.py", cwd=tmp_path / "bare", code=2).stderr
    assert "no plan in" in symfix("series", "build", "--name", "nothing", cwd=repo, code=2).stderr


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_build_is_finished_by_the_next(repo: Path, tmp_path: Path, seed: int) -> None:
    before = traces(repo)
    process = start(repo, "series", "build", "--no-verify", "--no-page")
    places = random.Random(seed)
    wanted = places.randrange(1, 4)
    until = time.monotonic() + 60
    # Wait for an event instead of a time, so that the test is as strict on a slow machine.
    while process.poll() is None and len(branches(repo)) < wanted and time.monotonic() < until:
        time.sleep(0.002 * places.random())
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    made(repo)
    assert traces(repo) == before
    assert set(states(repo).values()) == {"built"}
    _, whole = workshop_of(repo)
    assert set(branches(repo)) == {*(request.branch for request in whole.requests), "symfix/main/all"}
    other = tmp_path / "other"
    subprocess.run(["cp", "-a", str(repo), str(other)], check=True)
    for name in branches(other):
        git(other, "branch", "-D", name)
    made(other)
    assert branches(other) == branches(repo)


def test_the_leavings_of_a_killed_git_are_cleared_away(repo: Path) -> None:
    _, whole = workshop_of(repo)
    lock = repo / ".git/refs/heads" / f"{whole.requests[0].branch}.lock"
    lock.parent.mkdir(parents=True)
    lock.write_text("")
    os.utime(lock, (1, 1))
    worktree = repo / ".git/symfix/main/worktree"
    (repo / ".git/worktrees/worktree").mkdir(parents=True)
    (repo / ".git/worktrees/worktree/gitdir").write_text(f"{worktree}/.git\n")
    (repo / ".git/worktrees/worktree/locked").write_text("initializing")
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {repo}/.git/worktrees/worktree\n")
    record = built(repo, lambda changes, tree, request: verdict(changes, Verdict.PROVEN))
    assert {one.state for one in record.standings.values()} == {BuildState.BUILT}
    assert set(fresh_states(record, whole, Repository.around(repo))) == set(record.standings)
