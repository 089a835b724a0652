"""Tests of the pure part of a series: hunks, groups, plans, texts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from symfix.codemods.reports.patch import patch
from symfix.codemods.workflows.pull_requests.series import decisions, plan, pr_text
from symfix.codemods.workflows.pull_requests.series.git import blob_name
from symfix.codemods.workflows.pull_requests.series.groups import group
from symfix.codemods.workflows.pull_requests.series.hunks import Hunk, Mismatch, clash, groups, hunks_between, put
from symfix.codemods.workflows.pull_requests.series.planner import make_plan
from symfix.codemods.workflows.pull_requests.series.proposal import FileChange, Proposal, Reason
from symfix.codemods.workflows.pull_requests.series.repairs import files_of, read_folder

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\r\n", b"\n", b"d\re\n", b"\xff\n"]), max_size=12).map(b"".join)
TEXT = st.tuples(LINES, st.sampled_from([b"", b"end"])).map(b"".join)


def reason(rule: str, start: int = 0, end: int = 1, **more: object) -> Reason:
    value = Reason(rule, 2, "safe", f"{rule} here", "f", None, start, 1, ((start, end),))
    return replace(value, **more)


def proposal(path: str, *rules: str, lines: int = 1, **more: object) -> Proposal:
    before = b"".join(b"old %d\n" % number for number in range(lines))
    reasons = tuple(reason(rule) for rule in rules)
    return Proposal(path, (FileChange(path, before, before.replace(b"old", b"new"), reasons),), **more)


@given(TEXT, TEXT)
@settings(max_examples=300)
def test_hunks_carry_one_text_into_the_other(before: bytes, after: bytes) -> None:
    hunks = hunks_between(before, after)
    assert put(before, hunks) == after
    assert put(before, reversed(hunks)) == after
    assert bool(hunks) == (before != after)


@given(TEXT, TEXT)
@settings(max_examples=300)
def test_the_hunks_of_a_patch_are_those_of_its_texts(before: bytes, after: bytes) -> None:
    if before != after:
        (found,) = files_of(b"a head\n\n" + patch("a b.py", before, after)).values()
        assert put(before, found) == after


@given(TEXT, TEXT, TEXT)
@settings(max_examples=300)
def test_what_does_not_clash_can_be_put_together(before: bytes, one: bytes, other: bytes) -> None:
    first, second = hunks_between(before, one), hunks_between(before, other)
    if clash(first, second) is None:
        assert put(before, [*first, *second]) == put(before, [*second, *first])


def test_hunks_refuse_a_text_that_they_are_not_about() -> None:
    hunk = Hunk(2, ("b\n",), ("c\n",))
    assert put(b"a\nb\n", [hunk]) == b"a\nc\n"
    with pytest.raises(Mismatch, match="line 2"):
        put(b"a\nx\n", [hunk])
    with pytest.raises(Mismatch):
        put(b"a\nb\n", [hunk, Hunk(2, ("b\n",), ("d\n",))])


def test_hunks_that_share_a_reason_stand_together() -> None:
    lines = "".join(f"{number}\n" for number in range(9)).encode()
    after = lines.replace(b"1", b"x").replace(b"4", b"y").replace(b"7", b"z")
    hunks = hunks_between(lines, after, [[(2, 3), (14, 15)], [(8, 9)]])
    assert [hunk.why for hunk in hunks] == [(0,), (1,), (0,)]
    assert groups(hunks) == (0, 1, 0)


def test_one_rule_is_one_group_and_all_of_a_file_stays_together() -> None:
    ones = [proposal("torch/a.py", "p"), proposal("torch/b.py", "p"), proposal("torch/c.py", "p", "q")]
    found = group(ones)
    assert [(one.rule, [p.name for p in one.proposals]) for one in found.groups] == [
        (None, ["torch/c.py"]),
        ("p", ["torch/a.py", "torch/b.py"]),
    ]


def test_groups_are_small() -> None:
    many = [proposal(f"torch/x{number:03}/f.py", "p", lines=10) for number in range(60)]
    found = group(many, most_files=25, most_lines=400).groups
    assert [len(one.proposals) for one in found] == [20, 20, 20]
    assert [len(one.proposals) for one in group(many, 25, 10_000).groups] == [25, 25, 10]
    assert len(group([proposal("torch/one.py", "p", lines=999)]).groups) == 1


def test_repairs_of_one_file_are_one_request_and_those_that_clash_are_left_out() -> None:
    text = b"a\nb\nc\nd\ne\n"
    first = Proposal("one", (FileChange("torch/f.py", text, text.replace(b"a", b"x")),), ("op.a",))
    second = Proposal("two", (FileChange("torch/f.py", text, text.replace(b"e", b"y")),), ("op.b",))
    third = Proposal("three", (FileChange("torch/f.py", text, text.replace(b"a", b"z")),), ("op.c",))
    found = group([first, second, third])
    assert [[p.name for p in one.proposals] for one in found.groups] == [["one", "two"]]
    assert found.passed_over == ("three: line 1 of torch/f.py is also changed by one",)


def test_a_repair_over_two_files_does_not_join_those_of_each() -> None:
    ones = [
        Proposal(
            "both", (FileChange("torch/a.py", b"1\n2\n", b"1\nx\n"), FileChange("torch/b.py", b"1\n", b"2\n")), ("p",)
        ),
        Proposal("first", (FileChange("torch/a.py", b"1\n2\n", b"x\n2\n"),), ("q",)),
        Proposal("other", (FileChange("torch/c.py", b"1\n", b"2\n"),), ("r",)),
    ]
    assert sorted([p.name for p in one.proposals] for one in group(ones).groups) == [["both"], ["first"], ["other"]]


def test_a_shared_list_of_failures_does_not_join_two_repairs() -> None:
    text = b"a\nb\nc\nd\ne\n"
    xfails = "torch/testing/_internal/xfails.py"
    ones = [
        Proposal(
            name,
            (
                FileChange(f"torch/{name}.py", b"1\n", b"2\n"),
                FileChange(xfails, text, text.replace(line, b""), role="xfail"),
            ),
            (name,),
        )
        for name, line in (("one", b"a\n"), ("two", b"e\n"))
    ]
    assert len(group(ones).groups) == 2


def made(*proposals: Proposal, origin: str = "rules") -> plan.PullRequestPlan:
    blank = plan.PullRequestPlan(
        "try",
        base="0" * 40,
        made=1,
        tool="symfix 0",
        origin=origin,
        words={"select": None, "min_torch": [2, 8]},
        rules={"p": "Do it right: ``a`` → ``b``.\n\nWhy: it\nfails.\n\nSafety: safe.", "z": "Unused."},
    )
    return make_plan(proposals, blank, blob_name)


def test_a_plan_survives_its_file() -> None:
    whole = made(proposal("torch/a.py", "p", issues=(7,)), proposal("torch/b.cpp", "q"))
    assert plan.from_json(plan.to_json(whole)) == replace(whole, words={"min_torch": [2, 8]})
    assert set(whole.rules) == {"p"}
    for text in ("", "[]", '{"version": 1}', '{"version": 2}'):
        with pytest.raises(plan.PlanError):
            plan.from_json(text)


def test_the_same_files_keep_their_id_and_branch() -> None:
    first, again = made(proposal("torch/a.py", "p")), made(proposal("torch/a.py", "p", lines=3))
    assert [one.id for one in first.requests] == [one.id for one in again.requests]
    other = made(proposal("torch/a.py", "p"), proposal("torch/b.py", "p"))
    assert other.requests[0].id != first.requests[0].id
    assert first.requests[0].branch.startswith("symfix/try/a-p-")


def test_titles_as_reviewers_want_them() -> None:
    one = proposal("aten/src/ATen/native/LossNLL.cpp")
    reasons = tuple(reason("p", mode=1, function=name) for name in ("nll_loss_symint", "cross_entropy_loss"))
    nll = replace(one, files=(replace(one.files[0], reasons=reasons),))
    assert pr_text.title((nll,)) == "SymIntify cross_entropy_loss and nll_loss"
    assert pr_text.title((proposal("torch/a.py", "p"),)) == "[DDE] Fix data-dependent errors in f"
    spread = tuple(proposal(f"torch/nn/x{number}.py", "p") for number in range(9))
    assert pr_text.title(spread) == "[DDE] Fix data-dependent errors in torch/nn"
    mended = proposal("torch/a.py", "p", operators=("linalg.cond",))
    assert pr_text.title((mended,)) == "[DDE] Fix data-dependent errors in linalg.cond"


def test_the_summary_says_each_default_once() -> None:
    reasons = [
        reason("p", default=f"an undecided `{name} == 0` is taken as false", safety="unsafe") for name in "abc"
    ] + [reason("p", default="a bad size raises later", safety="unsafe")]
    assert pr_text.defaults(reasons) == (
        "The defaults: an undecided `a == 0` (and 2 like it) is taken as false; a bad size raises later."
    )
    assert "No size takes a default" in pr_text.defaults([reason("p")])


def test_what_no_rule_vouches_for_is_said_by_its_fix() -> None:
    mended = (proposal("torch/a.py", "p", "alternative"),)
    assert pr_text.summary(mended, {"p": "Do it right."}).startswith("Do it right. alternative here.")


def test_a_commit_message_is_plain_and_ends_in_its_trailer() -> None:
    (request,) = made(proposal("torch/a.py", "p", issues=(7,))).requests
    text = pr_text.commit_message(request, "symfix 0", None, ["symfix verify --base HEAD~1"])
    assert text.splitlines()[0] == request.title
    assert "\n\nFixes #7\n\nDo it right: `a` becomes `b`. It fails." in text
    assert text.endswith(f"\n\nSymfix-Id: {request.id}\n")
    assert not [line for line in text.splitlines() if line.lstrip().startswith(("-", "*"))]
    assert max(map(len, text.splitlines()[1:])) <= 72


def test_inductor_gets_its_label() -> None:
    assert "ciflow/inductor" in pr_text.labels((proposal("torch/_inductor/lowering.py", "p"),))
    assert "ciflow/inductor" not in pr_text.labels((proposal("torch/nn/x.py", "p"),))


def test_decisions_are_about_one_series() -> None:
    whole = made(proposal("torch/a.py", "p"))
    request = whole.requests[0]
    row = {"request": request.id, "path": "torch/a.py", "verdict": "rejected", "fixes": [{"rule": "p", "start": 0}]}

    def file(**more: object) -> str:
        return json.dumps({"version": 1, "series": "try", "decisions": [row], **more})

    found = decisions.read(file(), whole)
    assert found.left_out(request, request.parts[0]) == {("p", 0)}
    assert found.drops(request, request.parts[0])
    accepted = decisions.read(file(decisions=[{**row, "verdict": "accepted"}]), whole)
    assert not accepted.drops(request, request.parts[0])
    for bad in ("x", "{}", file(series="other"), file(version=9), file(decisions=[{**row, "path": "torch/z.py"}])):
        with pytest.raises(plan.PlanError):
            decisions.read(bad, whole)


def test_a_folder_of_repairs_gives_proposals(tmp_path: Path) -> None:
    before, after = b"a\nb\nc\n", b"a\nx\nc\n"
    value = {
        "name": "mend",
        "operators": ["op.variant"],
        "files": ["torch/f.py"],
        "fixes": [
            {
                "file": "torch/f.py",
                "line": 2,
                "function": "f",
                "rule": "p",
                "mode": 2,
                "safety": "unsafe",
                "message": "give it a default",
                "default": "0 is the special case",
            }
        ],
        "verification": {
            "checks": [
                {"subject": "op (74 samples)"},
                {"subject": "op (2 of 6 samples)"},
                {"subject": "op2 (1 sample)"},
            ]
        },
    }
    (tmp_path / "0001-mend.json").write_text(json.dumps(value))
    more = patch("test/t.py", b"1\n", b"1\n2\n")
    (tmp_path / "0001-mend.patch").write_bytes(b"mend: op\n\n" + patch("torch/f.py", before, after) + more)
    texts = {"torch/f.py": before, "test/t.py": b"1\n"}
    (found,), notes = read_folder(tmp_path, texts.get)
    assert (found.operators, found.opinfos, found.bystanders, notes) == (("op.variant",), ("op",), ("op2",), [])
    assert [(file.path, file.role, file.after) for file in found.files] == [
        ("torch/f.py", "fix", after),
        ("test/t.py", "test", b"1\n2\n"),
    ]
    (why,) = found.files[0].reasons
    assert (why.rule, why.default, why.line, why.function) == ("p", "0 is the special case", 2, "f")
    none, (note,) = read_folder(tmp_path, {**texts, "torch/f.py": b"other\n"}.get)
    assert none == [] and note == "0001-mend: torch/f.py: line 2 is not what was planned for"


def test_a_repair_is_left_out_whole() -> None:
    text = b"a\nb\n"
    one = Proposal(
        "mend",
        (
            FileChange("torch/f.py", text, b"a\nc\n", (reason("p"),)),
            FileChange("test/t.py", text, b"a\nb\nc\n", role="test"),
        ),
        ("op",),
    )
    whole = made(one, origin="repairs")
    row = {"request": whole.requests[0].id, "path": "test/t.py", "verdict": "rejected", "fixes": []}
    found = decisions.read(json.dumps({"version": 1, "series": "try", "decisions": [row]}), whole)
    assert all(found.drops(whole.requests[0], part) for part in whole.requests[0].parts)
