"""Tests of verifying a project's Python: functions are traced before and after, with a test's arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from proofs import verify
from symfix.codemods.harness.children.recorders.captures import TRACERS as OF_THE_CHILD
from symfix.codemods.harness.children.recorders.captures import Capture
from symfix.codemods.harness.children.recorders.recorded_calls import Call, functions_of, recorded_calls, traceable
from symfix.codemods.verify.change import Change, Verdict, Verification
from symfix.codemods.verify.choose.changed_functions import changed_callables
from symfix.codemods.verify.compare.captures import TRACERS, capture_checks, gained_captures, lost_captures

BEFORE = """import torch


def rows(x, y):
    if x.shape[0] != y.shape[0]:
        raise ValueError(f"{x.shape[0]} rows")
    return x + y


class Scale(torch.nn.Module):
    def forward(self, x):
        if x.shape[0] == 0:
            return x
        return x / x.shape[0]


def unused(x):
    return x + 1
"""
CLOSURE = BEFORE.replace(
    'if x.shape[0] != y.shape[0]:\n        raise ValueError(f"{x.shape[0]} rows")',
    'torch._check_value(x.shape[0] == y.shape[0], lambda: f"{x.shape[0]} rows")',
)
GUARDED = BEFORE.replace("if x.shape[0] == 0", "if guard_or_false(x.shape[0] == 0)").replace("x + 1", "x + 1 + 0")
GUARDED = f"from torch.fx.experimental.symbolic_shapes import guard_or_false\n{GUARDED}"
TEST = """import torch, scaled


def test_rows():
    assert scaled.rows(torch.ones(3, 2), torch.ones(3, 2)).shape == (3, 2)


def test_scale():
    assert scaled.Scale()(torch.ones(3, 2)).shape == (3, 2)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    (place / "pyproject.toml").write_text("[project]\nname = 'scaled'\nversion = '1'\n")
    (place / "scaled.py").write_text(BEFORE)
    (place / "test_scaled.py").write_text(TEST)
    return place


def changed(project: Path, after: str, **options: Any) -> Verification:
    change = Change(project / "scaled.py", BEFORE.encode(), after.encode())
    return verify([change], evidence_folder=project.parent / "evidence", **options)


def test_verify_of_a_message_closure_is_regressed_with_the_reason(project: Path) -> None:
    found = changed(project, CLOSURE, tests=["python -m pytest -q ."])
    assert found.verdict is Verdict.REGRESSED
    assert found.reason.startswith("traced scaled:rows by compile passed before and fails after: Unsupported: Can't")
    lost = {check.subject.partition(" by ")[2] for check in found.checks if check.lost}
    assert lost == {"compile", "compile static", "compile with breaks", "strict export", "script"}


def test_verify_of_a_default_is_proven_and_names_what_is_not_called(project: Path) -> None:
    repro = project / "repro.py"
    repro.write_text("import torch, scaled\nscaled.Scale()(torch.ones(3, 2))\n")
    kept = changed(project, GUARDED, repros=[repro])
    assert kept.reason.startswith("traced scaled:Scale.forward by script passed before and fails after: ")
    found = changed(project, GUARDED, repros=[repro], drop_torchscript=True)
    assert found.verdict is Verdict.PROVEN
    said = found.reason.partition(";")[0]
    assert said == "traced scaled:Scale.forward by compile unbacked failed before and passes after"
    assert found.untraced == ("unused",)


def test_tracers_are_those_of_the_child() -> None:
    assert tuple(OF_THE_CHILD) == TRACERS


def capture(error: str = "", breaks: int = 0, guards: tuple[str, ...] = (), specialized: int = 0) -> Capture:
    return Capture(error=error, breaks=breaks, guards=[*guards], specialized=specialized, deviation="")


@pytest.mark.parametrize(
    ("after", "reason"),
    [
        (capture(error="Unsupported"), "Unsupported"),
        (capture(breaks=1), "1 graph breaks instead of 0"),
        (capture(specialized=1), "1 sizes specialized instead of 0"),
        (capture(guards=("s0 <= 9", "Eq(s1, 4)")), "guards more: Eq(s1, 4)"),
        (capture(guards=("s0 <= 9", "2 <= s0")), None),
        (capture(guards=("s0 <= 9", "s0 <= 8")), "guards more: s0 <= 8"),
        (capture(guards=("s0 <= 9", "ToFloat(zf1) < 2.0")), "guards more: ToFloat(zf1) < 2.0"),
        (Capture(error="", breaks=0, guards=[], specialized=0, deviation="with 0 it differs"), "with 0 it differs"),
    ],
)
def test_lost_captures_reports_each_kind(after: Capture, reason: str | None) -> None:
    before = {"export": capture(guards=("s0 <= 9",)), "script": capture(error="no")}
    assert lost_captures(before, {"export": after, "script": after}).get("export") == reason
    assert "script" not in lost_captures(before, {"script": after})


def test_lost_captures_reads_what_is_new_without_the_guards_that_cannot_be_read() -> None:
    guards = ("Odd(s0, s1)", "s0 >= s1", "s2 >= s1", "Eq(TruncToInt(s3), 4)")
    before = {"export": capture(guards=guards, specialized=1)}
    implied = (*guards, "(s0 >= s1) & (s2 >= s1)")
    assert lost_captures(before, {"export": capture(guards=implied, specialized=1)}) == {}
    free = ("s0 >= s1", "s2 >= s1", "Odder(s3)", "Odder(s4)", "Odder(s5)")
    assert lost_captures(before, {"export": capture(guards=free, specialized=0)}) == {}
    assert lost_captures(before, {"export": capture(guards=free, specialized=1)}) != {}


def test_gained_captures_are_checks_that_may_deviate() -> None:
    deviating = Capture(error="", breaks=0, guards=[], specialized=0, deviation="with 0 it differs")
    before, after = {"compile": capture("failed"), "export": capture()}, {"compile": deviating, "export": capture()}
    assert gained_captures(before, after) == ["compile"]
    (check,) = capture_checks({"m:f": before}, {"m:f": after})
    assert check.gained and check.deviates == "with 0 it differs" and check.subject == "m:f by compile"
    (same,) = capture_checks({"m:f": before}, {"m:f": before})
    assert same.subject == "m:f by export" and not same.gained and not same.lost


def test_changed_callables_names_the_outermost_function() -> None:
    text = "def f():\n    def g():\n        return 1\n    return g\n\n"
    text += "class C:\n    @str\n    def m(self):\n        return 2\n"
    found = changed_callables(text.encode(), text.replace("1", "3").replace("2", "4").encode())
    assert [(one.qualname, one.line) for one in found] == [("f", 1), ("f.g", 2), ("C.m", 7)]


def copied(args: Any, kwargs: Any) -> Any:
    return None if args and args[0] == "skipped" else (args, kwargs)


class Doubled:
    def __init__(self, number: int) -> None:
        self.number = number

    def times(self, *more: int, by: int = 2, **named: int) -> int:
        return self.number * by + sum(more) + sum(named.values())


def test_recorded_calls_have_the_arguments_of_the_first_calls() -> None:
    import sys

    module = sys.modules[__name__]
    functions = functions_of(module)
    assert functions[Doubled.times.__code__][0] == "Doubled.times"
    with recorded_calls(functions.get, copied, most=1) as calls:
        Doubled(3).times(4, 5, by=1, extra=6)
        Doubled(3).times(7)
    called = next(one for one in calls if one.name == "Doubled.times")
    assert called.args[1:] == (4, 5) and called.kwargs == {"by": 1, "extra": 6}
    function, args, kwargs = traceable(called)
    assert function(*args, **kwargs) == 3 + 4 + 5 + 6
    plain = Call("m:f", len, ([1],), {})
    assert traceable(plain) == (len, ([1],), {})
