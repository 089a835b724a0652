"""Tests of the texts about a pull request. They describe the built diff, and mention no omitted change."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from projects import CHECKED, SMALLER, commit, project, say
from running import git, symfix
from symfix.codemods.harness.observation import Observation
from symfix.codemods.verify.change import Change, Check, Verdict, Verification
from symfix.codemods.workflows.pull_requests.review.page_model import deck_of
from symfix.codemods.workflows.pull_requests.series import plan
from symfix.codemods.workflows.pull_requests.series.build_state import BuildState, Record, load
from symfix.codemods.workflows.pull_requests.series.builder import SeriesBuilder, SeriesOptions, build
from symfix.codemods.workflows.pull_requests.series.decisions import Decisions
from symfix.codemods.workflows.pull_requests.series.git import Repository, blob_name
from symfix.codemods.workflows.pull_requests.series.plan import PullRequest, PullRequestPlan
from symfix.codemods.workflows.pull_requests.series.planner import make_plan
from symfix.codemods.workflows.pull_requests.series.proposal import FileChange, Proposal, Reason

BOTH = "import torch\n" + "".join(
    text.format(name=name).partition("\n")[2] for text, name in ((CHECKED, "first"), (SMALLER, "second"))
)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    files = {"torch/fft/both.py": BOTH, **{f"torch/nn/c{n}.py": CHECKED.format(name=f"take{n}") for n in range(3)}}
    folder = project(tmp_path / "repo", files)
    symfix("series", "plan", "torch", cwd=folder, code=0)
    return folder


def planned(repo: Path) -> PullRequestPlan:
    return plan.from_json((repo / ".git/symfix/main/plan.json").read_text())


def reject(repo: Path, *rows: Mapping[str, Any]) -> Path:
    file = repo / ".git" / "decisions.json"
    document = {"version": 1, "series": "main", "decisions": [{"verdict": "rejected", **row} for row in rows]}
    file.write_text(json.dumps(document))
    return file


def row(request: PullRequest, path: str, rule: str = "") -> dict[str, Any]:
    (part,) = (part for part in request.parts if part.path == path)
    fixes = [{"rule": one.rule, "start": one.start} for one in part.reasons if rule in one.rule]
    assert fixes
    return {"request": request.id, "path": path, "fixes": fixes}


def built(repo: Path, *rows: Mapping[str, Any]) -> Record:
    words = ["--decisions", reject(repo, *rows)] if rows else []
    symfix("series", "build", "--no-verify", *words, cwd=repo, code=0)
    record = load(repo / ".git/symfix/main/built.json")
    assert record is not None
    return record


def words_of(repo: Path, request: PullRequest) -> dict[str, str]:
    """Return all texts about a request, by place."""
    body = repo / ".git/symfix/main/bodies" / f"{request.branch.rpartition('/')[2]}.md"
    page = (repo / ".git/symfix/main/review.html").read_text()
    status = symfix("series", "status", cwd=repo, code=0).stdout
    number = [one.id for one in planned(repo).requests].index(request.id) + 1
    start = page.index(f'<article id="{request.id}"')
    listed = page.index(f'data-card="{request.id}"')
    return {
        "commit": " ".join(say(repo, "log", "-1", "--format=%B", request.branch).split()),
        "stack": " ".join(say(repo, "log", "--format=%B", "main..symfix/main/all").split()),
        "body": body.read_text(),
        "page": page[start : page.index("</article>", start)].partition('<section class="file"')[0],
        "list": page[listed : page.index("</li>", listed)],
        "status": next(line for line in status.splitlines() if f"  {number}  [DDE]" in line),
        "json": symfix("series", "status", "--format", "json", cwd=repo, code=0).stdout,
        "send": symfix("series", "send", "--dry-run", request.branch, cwd=repo, code=0).stdout,
        "patches": "".join(path.read_text() for path in (repo / ".git/symfix/main/patches").glob("*.patch")),
    }


def counted(repo: Path, branch: str) -> tuple[int, int]:
    """Return the numbers of files and lines of a commit, as git counts them."""
    rows = say(repo, "diff", "--numstat", f"{branch}^", branch).splitlines()
    return len(rows), sum(int(number) for one in rows for number in one.split()[:2])


def size(files: int, lines: int) -> str:
    return f"({files} file{'s' if files > 1 else ''}, {lines} lines;"


def test_a_fix_that_was_rejected_is_claimed_nowhere(repo: Path) -> None:
    request = next(one for one in planned(repo).requests if one.paths == ("torch/fft/both.py",))
    assert request.title == "[DDE] Fix data-dependent errors in first and second"
    before = words_of(repo, replace(request)) if built(repo) else {}
    assert "sym_min" in before["commit"] and "second" in before["page"]
    record = built(repo, row(request, "torch/fft/both.py", "min_max"))
    shown = record.of(request.id).request
    assert shown is not None
    assert shown.title == "[DDE] Fix data-dependent errors in first"
    assert (shown.rules, shown.paths) == (("migrate_check_is_size",), ("torch/fft/both.py",))
    said = words_of(repo, request)
    files, lines = counted(repo, request.branch)
    assert (files, lines) == (1, 2)
    assert size(files, lines) in said["status"]
    for where, text in said.items():
        mine = text if where not in ("stack", "json", "patches") else text.replace(f"{request.branch}", "")
        assert "in first and second" not in mine, where
        if where not in ("page", "status"):
            assert "sym_min" not in mine and "min_max" not in mine, where
    assert "1 fix that a reviewer does not want" in said["page"]
    assert '<span class="chip rule">use_sym_min_max' not in said["page"]
    assert "[DDE] Fix data-dependent errors in first'" in said["send"]
    assert "+1</span>" in said["list"] and "1 file " in said["list"]


def test_files_that_were_rejected_are_not_counted(repo: Path) -> None:
    request = next(one for one in planned(repo).requests if len(one.paths) == 3)
    assert request.title.endswith("in torch/nn/c0.py, torch/nn/c1.py and torch/nn/c2.py")
    record = built(repo, *(row(request, f"torch/nn/c{number}.py") for number in (0, 2)))
    said = words_of(repo, request)
    assert counted(repo, request.branch) == (1, 2)
    shown = record.of(request.id).request
    assert shown is not None and (shown.paths, shown.lines) == (("torch/nn/c1.py",), 2)
    assert shown.title == "[DDE] Fix data-dependent errors in take1"
    assert size(1, 2) in said["status"]
    assert said["commit"].startswith(shown.title)
    assert "c0.py" not in said["list"] and "torch/nn/c1.py" in said["list"]


def test_the_page_counts_what_is_left_to_decide_and_keeps_what_was(repo: Path) -> None:
    request = next(one for one in planned(repo).requests if len(one.paths) == 3)
    rows = [row(request, f"torch/nn/c{number}.py") for number in (0, 2)]

    def data() -> Any:
        page = (repo / ".git/symfix/main/review.html").read_text()
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
        assert found is not None
        return json.loads(found[1])

    built(repo)
    whole = data()
    assert len(whole["units"]) == 5 and whole["rejected"] == []
    built(repo, *rows)
    left = data()
    assert len(left["units"]) == 3
    assert left["rejected"] == [{"verdict": "rejected", **one} for one in rows]
    # The page's current export has no effect when it is applied.
    branches = say(repo, "for-each-ref", "--format=%(refname) %(objectname)")
    built(repo, *left["rejected"])
    assert say(repo, "for-each-ref", "--format=%(refname) %(objectname)") == branches


def test_nothing_of_what_was_rejected_whole_is_to_be_decided(repo: Path) -> None:
    request = next(one for one in planned(repo).requests if len(one.paths) == 3)
    record = built(repo, *(row(request, path) for path in request.paths))
    assert record.of(request.id).state is BuildState.REJECTED
    paths = [path for one in planned(repo).requests for path in one.paths]
    entries = Repository.around(repo).entries(record.base, paths)
    deck = deck_of(planned(repo), record, entries, "symfix verify")
    assert not any(unit.startswith(request.id) for unit in deck.units)
    cover = (repo / ".git/symfix/main/patches").glob("0000-*.patch")
    assert "1 change for symbolic sizes" in next(cover).read_text()


def test_nothing_left_out_leaves_the_words_that_a_person_wrote(repo: Path) -> None:
    file = repo / ".git/symfix/main/plan.json"
    title = next(one.title for one in planned(repo).requests if len(one.paths) == 3)
    file.write_text(file.read_text().replace(title, "Check sizes in torch/nn"))
    request = next(one for one in planned(repo).requests if len(one.paths) == 3)
    built(repo)
    assert say(repo, "log", "-1", "--format=%s", request.branch) == "Check sizes in torch/nn"


# A newer base.


def test_what_the_base_has_already_is_not_claimed(repo: Path) -> None:
    request = next(one for one in planned(repo).requests if one.paths == ("torch/fft/both.py",))
    path = repo / "torch/fft/both.py"
    text = path.read_text().replace("_check_is_size(x.shape[0])", "_check(x.shape[0] >= 0)")
    path.write_text("# A line from elsewhere.\n\n" + text)
    for number in (0, 1):
        other = repo / f"torch/nn/c{number}.py"
        other.write_text(other.read_text().replace("_check_is_size(x.shape[0])", "_check(x.shape[0] >= 0)"))
    commit(repo, "meanwhile")
    symfix("series", "build", "--no-verify", "--base", "HEAD", cwd=repo, code=0)
    record = load(repo / ".git/symfix/main/built.json")
    assert record is not None
    shown = record.of(request.id).request
    assert shown is not None
    assert shown.title == "[DDE] Fix data-dependent errors in second"
    assert shown.rules == ("use_sym_min_max",)
    assert (len(shown.paths), shown.lines) == counted(repo, request.branch)
    (reason,) = shown.parts[0].reasons
    assert path.read_text().splitlines()[reason.line - 1] == "    rows = min(x.shape[0], y.shape[0])"
    (hunk,) = (hunk for hunk in shown.parts[0].hunks if hunk.why)
    assert hunk.line == reason.line
    nn = next(one for one in planned(repo).requests if len(one.paths) == 3)
    named = record.of(nn.id).request
    assert named is not None and named.paths == ("torch/nn/c2.py",)
    page = (repo / ".git/symfix/main/review.html").read_text()
    assert f'data-n="{reason.line}"' in page


# Changes that the verification dropped.


def test_what_the_verification_left_out_is_not_claimed(repo: Path) -> None:
    def prove(changes: Sequence[Change], tree: Path, request: PullRequest | None) -> Verification:
        bad = any(one.path.name in ("c0.py", "c1.py") for one in changes)
        check = Check("eager", "op", Observation(False, "no"), Observation(True))
        what = Verdict.REGRESSED if bad else Verdict.PROVEN
        return Verification(what, "said", tuple(str(one.path) for one in changes), (check,), torch="2.13.0 x")

    workshop = SeriesBuilder(repo / ".git/symfix/main", Repository.around(repo))
    made = planned(repo)
    wishes = SeriesOptions(base=made.base, prove=prove, redo=lambda path, before, without: None)
    with workshop.alone():
        record = build(made, workshop, wishes)
    request = next(one for one in made.requests if len(one.paths) == 3)
    shown = record.of(request.id).request
    assert shown is not None and shown.paths == ("torch/nn/c2.py",)
    assert say(repo, "log", "-1", "--format=%s", request.branch) == "[DDE] Fix data-dependent errors in take2"
    assert load(workshop.record) == record, "it is kept as it is"


# Repairs: the operator and the issue of a rejected one are removed too.


def test_the_operator_of_a_rejected_repair_is_claimed_nowhere(tmp_path: Path) -> None:
    lines = "".join(f"line {number}\n" for number in range(20))
    folder = project(tmp_path / "repo", {"torch/a.py": lines})
    repository = Repository.around(folder)
    base = repository.commit("HEAD")

    def repaired(name: str, number: int, issue: int) -> Proposal:
        before, after = lines.encode(), lines.replace(f"line {number}\n", f"mended {number}\n").encode()
        start = before.index(f"line {number}\n".encode())
        reason = Reason(
            "alternative", 2, "unsafe", f"mend {name}", f"f_{name}", f"an undecided {name} is no", start, number + 1,
            ((start, start + 5),),
        )  # fmt: skip
        file = FileChange("torch/a.py", before, after, (reason,))
        return Proposal(name, (file,), (name,), (name,), (f"{name}_too",), (issue,))

    proposals = [repaired("abs", 3, 7), repaired("norm", 12, 8)]
    blank = PullRequestPlan("main", base, 1_700_000_000, "symfix 0", "repairs", words={}, rules={})
    made = make_plan(proposals, blank, blob_name)
    (request,) = made.requests
    assert (request.operators, request.issues) == (("abs", "norm"), (7, 8))
    assert plan.from_json(plan.to_json(made)) == made
    asked: list[PullRequest | None] = []

    def prove(changes: Sequence[Change], tree: Path, request: PullRequest | None) -> Verification:
        asked.append(request)
        return Verification(Verdict.NEUTRAL, "said", (), (), torch="2.13.0 x")

    workshop = SeriesBuilder(folder / ".git/symfix/main", repository)
    chosen = Decisions(proposals=frozenset([(request.id, "norm")]))
    wishes = SeriesOptions(base=base, prove=prove, redo=lambda path, before, without: None, decisions=chosen)
    with workshop.alone():
        record = build(made, workshop, wishes)
    shown = record.of(request.id).request
    assert shown is not None
    assert (shown.operators, shown.opinfos, shown.bystanders, shown.issues) == (("abs",), ("abs",), ("abs_too",), (7,))
    assert [one and one.opinfos for one in asked] == [("abs",)]
    text = say(folder, "log", "-1", "--format=%B", request.branch) + workshop.body(request).read_text()
    assert "abs" in text and "norm" not in text
    assert "Fixes #7" in text and "#8" not in text
    assert "an undecided abs is no" in " ".join(text.split())
    git(folder, "branch", "-D", request.branch)
