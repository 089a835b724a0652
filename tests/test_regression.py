"""Tests of regression tests: their text, their location, and their runs on both sides."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from symfix.codemods.harness.observation import Observation
from symfix.codemods.harness.process_limits import Ended, Limits
from symfix.codemods.harness.torch_variant import Harness, Replayed, Variant
from symfix.codemods.verify.change import Change, Verdict, Verification
from symfix.codemods.workflows.pull_requests.regression import pr_test
from symfix.codemods.workflows.pull_requests.regression.pr_test import CachedAdditions, RegressionBuilder
from symfix.codemods.workflows.pull_requests.regression.test_location import placed
from symfix.codemods.workflows.pull_requests.regression.test_proof import regression
from symfix.codemods.workflows.pull_requests.regression.test_source import WIDTH, FailingCall, method, standalone
from symfix.codemods.workflows.pull_requests.regression.variants import Side
from symfix.codemods.workflows.repair.folder import Added
from symfix.codemods.workflows.repair.result import Repair

ADDMV = FailingCall(
    "addmv",
    "torch.addmv",
    ("x", "y", "z", "beta=2"),
    {"x": "torch.randn(5)", "y": "torch.randn(5, 10)", "z": "torch.randn(10)"},
    (("x", 0), ("y", 1)),
    False,
    "could not decide Eq(u1, 0)",
)
SUITE = b"""\
import torch
from torch.testing._internal.common_utils import run_tests, TestCase


class TestOther(TestCase):
    def test_something(self):
        pass


class TestUnbacked(TestCase):
    def test_view(self):
        x = torch.randn(3, 4)
        torch._dynamo.decorators.mark_unbacked(x, 0)

    # The end of the class.


if __name__ == "__main__":
    run_tests()
"""


def test_the_words_of_a_test() -> None:
    assert (
        method(ADDMV, "aot_eager").decode()
        == """\
    def test_unbacked_addmv(self):
        def fn(x, y, z):
            return torch.addmv(x, y, z, beta=2)

        x = torch.randn(5)
        y = torch.randn(5, 10)
        z = torch.randn(10)
        expected = fn(x, y, z)
        torch._dynamo.decorators.mark_unbacked(x, 0)
        torch._dynamo.decorators.mark_unbacked(y, 1)
        compiled = torch.compile(fn, backend="aot_eager", fullgraph=True)
        self.assertEqual(compiled(x, y, z), expected)
"""
    )


@pytest.mark.parametrize("count", [1, 2, 4, 9])
def test_long_calls_are_laid_out_as_the_formatter_does(count: int) -> None:
    arguments = ("x", *(f"keyword_{number}={10**number}" for number in range(count)))
    words = FailingCall(
        "nn.functional.long", "torch.nn.functional.long", arguments, {"x": "torch.randn(3)"}, (("x", 0),), True
    )
    text = standalone(words, "aot_eager").decode()
    ast.parse(text)
    assert max(map(len, text.splitlines())) <= WIDTH
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", str(WIDTH), "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert formatted.stdout == text
    assert "expected = fn(x.clone())" in text, "a call that changes its arguments gets copies"


def test_the_test_goes_into_the_class_for_such_tests() -> None:
    files = {"test/test_dynamic_shapes.py": SUITE}
    name, before, after = placed(ADDMV, "aot_eager", files.get)
    assert (name, before) == ("test/test_dynamic_shapes.py", SUITE)
    classes = {node.name: node for node in ast.parse(after).body if isinstance(node, ast.ClassDef)}
    assert [getattr(node, "name", "") for node in classes["TestUnbacked"].body] == ["test_view", "test_unbacked_addmv"]
    assert after.startswith(SUITE[: SUITE.index(b"    # The end")].rstrip() + b"\n")
    again = placed(ADDMV, "aot_eager", {"test/test_dynamic_shapes.py": after}.get)[2]
    assert b"def test_unbacked_addmv_sizes(self)" in again, "no test takes another's name"


def test_without_such_a_class_the_test_runs_by_itself() -> None:
    plain = SUITE.replace(b"torch._dynamo.decorators.mark_unbacked(x, 0)", b"pass")
    name, before, after = placed(ADDMV, "aot_eager", {"test/test_dynamic_shapes.py": plain}.get)
    assert (name, before) == ("test/test_unbacked_addmv.py", b"")
    assert after == standalone(ADDMV, "aot_eager")
    assert b"run_tests()" in after


class Scripted(Harness):
    """Laboratory whose child writes a call of ``addmv``, and whose runs pass on the named variants."""

    passing: tuple[tuple[str, str], ...]
    """Variant and backend of each run that passes."""

    def ask(
        self, child: str, variant: Variant, request: Mapping[str, Any], report: Path, limits: Limits | None = None
    ) -> tuple[Ended, dict[str, Any]]:
        fields = {"call": ADDMV.call, "arguments": ADDMV.arguments, "tensors": ADDMV.tensors, "changes": False}
        rows = {
            "addmv": {"words": {**fields, "marks": ADDMV.marks}, "failure": "could not decide Eq(u1, 0)"},
            "cov": {"refused": "an argument is too long to write"},
        }
        report.write_text(
            "".join(json.dumps({"operator": name, **rows[name]}) + "\n" for name, _ in request["operators"])
        )
        plain: dict[str, Any] = dict.fromkeys(("seconds", "cpu", "peak_kb", "left_running"), 0)
        return Ended(("python",), 0, False, offline=True, stopped="", walled=True, stdout="", stderr="", **plain), {}

    def replay(self, variant: Variant, script: Path | None) -> Replayed:
        assert script is not None
        text = script.read_text()
        backend = text.split('backend="')[1].split('"')[0]
        marked = "" if "mark_unbacked" in text else " static"
        passed = (variant.name, backend + marked) in self.passing
        said = "AssertionError: Tensor-likes are not close!" if "partition" in backend else "exit 1"
        return Replayed(Observation(passed, "" if passed else said))


def tried(tmp_path: Path, *passing: tuple[str, str]) -> Any:
    laboratory = Scripted(Path("python"), tmp_path, Limits())
    object.__setattr__(laboratory, "passing", passing)
    operators = {"addmv": 0, "cov": 1}
    before, after = (Side(laboratory, Variant(name)) for name in ("before", "after"))
    return regression(tuple(operators), operators, before, after)


def test_a_test_fails_before_and_passes_after(tmp_path: Path) -> None:
    found = tried(tmp_path, ("after", "aot_eager"), ("after", "eager"))
    assert found.words is not None
    assert (found.words.operator, found.backend, found.before) == ("addmv", "aot_eager", "could not decide Eq(u1, 0)")


@pytest.mark.parametrize(
    ("decomposed", "wrong"),
    [
        pytest.param((), "", id="other values with known sizes too"),
        pytest.param(("", " static"), "", id="right"),
        pytest.param((" static",), "addmv with decompositions and unbacked sizes: AssertionError", id="wrong"),
    ],
)
def test_values_by_decompositions_are_compared(tmp_path: Path, decomposed: tuple[str, ...], wrong: str) -> None:
    passing = tuple(("after", f"aot_eager_decomp_partition{how}") for how in decomposed)
    found = tried(tmp_path, ("after", "aot_eager"), *passing)
    assert found.words is not None
    assert found.wrong.startswith(wrong)
    assert bool(found.wrong) == bool(wrong)


def test_the_other_backend_is_the_second_choice(tmp_path: Path) -> None:
    assert tried(tmp_path, ("after", "eager")).backend == "eager"


@pytest.mark.parametrize(
    ("passing", "said"),
    [
        pytest.param((), "addmv with aot_eager, after the fix: exit 1", id="fails after"),
        pytest.param(
            tuple((side, backend) for side in ("before", "after") for backend in ("aot_eager", "eager")),
            "addmv with aot_eager: passes before the fix",
            id="passes before",
        ),
    ],
)
def test_a_test_that_shows_nothing_is_none(tmp_path: Path, passing: tuple[tuple[str, str], ...], said: str) -> None:
    found = tried(tmp_path, *passing)
    assert found.words is None
    assert said in found.why
    assert "cov: an argument is too long to write" in found.why


def test_additions_are_made_once_and_the_missing_ones_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[tuple[str, str, float]] = []

    def added(repair: Repair, at: RegressionBuilder, before: Side, after: Side) -> Added:
        made.append((repair.name, before.variant.name, after.laboratory.limits.wall))
        return Added(wrong="other values" if repair.name == "third" else "")

    @contextmanager
    def own(*_: object) -> Iterator[tuple[Side, Side]]:
        yield side("own"), side("own")

    def side(name: str) -> Side:
        return Side(Harness(Path("python"), tmp_path, Limits(wall=1.0)), Variant(name))

    monkeypatch.setattr(pr_test, "_added", added)
    monkeypatch.setattr(pr_test, "sides", own)
    proof = Verification(Verdict.PROVEN, "it passes", ())
    first, second, third = (
        Repair(name, (name,), {}, {}, (Change(tmp_path / name, b"", b"1"),), (), (), (), "torch", proof)
        for name in ("first", "second", "third")
    )
    left = replace(second, name="left", operators=("left",), verification=None)
    at = RegressionBuilder(SimpleNamespace(python=Path("python")), tmp_path, jobs=1)  # type: ignore[arg-type]
    found = CachedAdditions(at)
    found.make(first, side("proof"), side("proof"))
    repairs = found.complete([first, second, left, third])
    patience = pr_test._LIMITS.wall
    assert made == [("first", "proof", patience), ("second", "own", patience), ("third", "own", patience)]
    assert [one.proven for one in repairs] == [True, True, False, False], "what a test shows to be wrong is not proven"
    assert found(third).wrong == "other values"
    changed = replace(third, changes=(Change(tmp_path / "third", b"", b"2"),))
    assert found(changed) == Added(), "another change has none of it"
