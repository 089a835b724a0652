"""Tests of the children of `symfix export`: conditions in the names of a line, truth values of conditions, targets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sympy = pytest.importorskip("sympy")
torch = pytest.importorskip("torch")

from symfix.codemods.harness.children.entrypoints import exported_model  # noqa: E402
from symfix.codemods.harness.children.recorders import branch_coverage, failure_site  # noqa: E402
from symfix.codemods.harness.children.recorders.divergence import parting_line  # noqa: E402
from symfix.codemods.harness.children.samples import cases, export_targets  # noqa: E402

U0, U1 = sympy.symbols("u0 u1", integer=True)
WORDS = {"u0": "x.shape[0]", "u1": "n"}


@pytest.mark.parametrize(
    ("condition", "stated"),
    [
        (sympy.Eq(U0, 0), ["x.shape[0] != 0"]),
        (sympy.Ne(32 * U0, 0), ["x.shape[0] != 0"]),
        (sympy.Eq(4 * U0 * U1**2, 0), ["x.shape[0] != 0", "n != 0"]),
        (sympy.Eq(U1, 1), ["n != 1"]),
        (sympy.Eq(U0 * U1, 1), []),
        (sympy.Eq(U0, 2), []),
        (sympy.Eq(U0 + 1, 0), []),
        (sympy.Eq(sympy.Symbol("u9"), 0), []),
        (U0 > 1, []),
        (None, []),
    ],
)
def test_conditions_are_stated_in_the_words_of_a_line(condition: Any, stated: list[str]) -> None:
    assert sorted(failure_site._stated(condition, WORDS)) == sorted(stated)


@pytest.mark.parametrize(
    ("file", "others"),
    [
        (torch.__file__, False),
        (failure_site.__file__, False),
        (__import__("json").__file__, False),
        ("<string>", False),
        ("/opt/env/lib/python3/site-packages/net/model.py", True),
        ("/srv/model.py", True),
    ],
)
def test_whose_a_file_is(file: str, others: bool) -> None:
    assert failure_site.is_others(file) is others


def test_the_branch_behind_is_compiling_is_watched(tmp_path: Path) -> None:
    text = """def f(compiling, mask):
    if (
        not compiling() and
        mask
    ):
        return 1
    return 2


def g(is_compiling):
    if is_compiling():
        return 1
    return 2


def h(is_compiling, is_scripting):
    if not is_scripting() and is_compiling():
        return 1
    return 2
"""
    file = tmp_path / "watched.py"
    file.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), names)
    found = branch_coverage.DecisionCounts()
    compiling = branch_coverage._watching(found)
    before = sys.gettrace()
    assert (names["f"](compiling, False), found.seen()) == (2, {(str(file), 2): {False}})
    assert (names["f"](compiling, True), found.seen()) == (1, {(str(file), 2): {False, True}})
    assert (names["g"](compiling), len(found.seen())) == (2, 1), "a branch for the compiler alone has no other side"
    assert (names["h"](compiling, bool), len(found.seen())) == (2, 1), "nor has one for TorchScript besides"
    assert sys.gettrace() is before


def test_each_truth_of_a_guard_is_counted() -> None:
    found = branch_coverage.DecisionCounts()
    guard = branch_coverage._counting(bool, found)
    assert [guard(size == 1) for size in (1, 2)] == [True, False]
    ((line, seen),) = found.seen().items()
    assert line[0] == __file__ and seen == {True, False}


def test_decisions_on_one_line_are_counted_apart_and_taken_back_where_not_chosen() -> None:
    found = branch_coverage.DecisionCounts()
    where = branch_coverage._selecting(torch.where, found)
    yes, no, x = torch.tensor(True), torch.tensor(False), torch.ones(2)
    for outer, inner in ((no, yes), (no, no), (yes, no)):
        where(outer, x, where(inner, x, x + 1))
    assert list(found.seen().values()) == [{True, False}]
    found.clear()
    for inner in (yes, no):
        where(yes, x, where(inner, x, x + 1))
    assert list(found.seen().values()) == [set()], "nothing of the inner decision is in a result"


def test_nested_decisions_of_cond_are_counted() -> None:
    found = branch_coverage.DecisionCounts()
    cond = branch_coverage._choosing(found)

    def inner(x: Any) -> Any:
        return cond(x.sum() > 9, torch.neg, torch.abs, (x,))

    result = cond(torch.tensor(True), inner, torch.abs, (torch.ones(2),))
    assert torch.equal(result, torch.ones(2))
    assert sorted(found.seen().values(), key=list) == [{False}, {True}]


def call(**given: Any) -> export_targets.ValidatedTarget:
    x = torch.arange(12.0).reshape(3, 4)
    made = {"model": lambda x, ys: x, "args": (x, [x, x[:2]]), "dynamic": {"x": {0: "n"}, "ys": [None, {-1: "m"}]}}
    return export_targets.read({**made, **given})


def test_a_nested_call_is_marked_and_resized() -> None:
    model = call()
    assert (model.marks, model.sizes) == ([(0, 0, "n"), (2, 1, "m")], {"n": 3, "m": 4})
    (x, (first, second)), _ = model.resized({"n": 5, "m": 2})
    assert (x.shape, first.shape, second.shape) == ((5, 4), (3, 4), (2, 2))
    assert torch.equal(x[3:], x[:2]), "what is there is repeated"


@pytest.mark.parametrize(
    ("dynamic", "said"),
    [
        ({"x": {0: "n"}, "ys": [{0: "n"}, {0: "n"}]}, "'n' is 3 and, in 'ys', 2"),
        ({"ys": {0: "n"}}, "'dynamic' of 'ys' does not have the structure of the value"),
        ({"x": {0: 7.5}}, "7.5 is no Dim, name, number or None"),
    ],
)
def test_what_does_not_fit_is_said(dynamic: dict[str, Any], said: str) -> None:
    with pytest.raises(export_targets.BadTarget, match=said.replace("{", r"\{")):
        call(dynamic=dynamic)


class Cache:
    def __init__(self, *tensors: Any) -> None:
        self.layers = list(tensors)


def test_objects_are_compared_by_what_they_hold() -> None:
    from symfix.codemods.harness.children.samples.samples import difference

    one, same, other = (cases._opened((Cache(torch.tensor([size])),)) for size in (1, 1, 2))
    assert difference(one, same) == ""
    assert "other values than eager" in difference(one, other)


class Stateful(torch.nn.Module):
    """A module whose calls change a cache and the number that it is made for."""

    def __init__(self) -> None:
        super().__init__()
        self.state = torch.zeros(4)
        self.calls, self.size, self.table = 0, 0, torch.zeros(0)

    def forward(self, x: torch.Tensor, ys: Any) -> torch.Tensor:
        self.calls += 1
        if self.size != len(x):
            self.size, self.table = len(x), torch.arange(float(len(x)))
        return x * self.table[:, None] + self.state + self.calls


def test_each_call_of_a_model_starts_from_the_same_attributes() -> None:
    module = Stateful()
    case = cases.Case("as given", call(model=module), call().inputs, {"n": 3, "m": 4}, given=True)
    assert (case.error, case.repeats) == ("", True)
    assert {name for name in case.left if name.startswith(cases.ATTRIBUTE)} == {"attribute calls", "attribute size"}
    assert (module.calls, module.size, module.table.numel()) == (0, 0, 0)


PARTING = """def f(n):
    total = 0
    for k in range(3):
        total += k
    return total / n if n else 0


def g(n):
    return sum(range(n))
"""


@pytest.mark.parametrize(("name", "line"), [("f", 5), ("g", None)])
def test_parting_line_is_the_last_that_two_runs_share(tmp_path: Path, name: str, line: int | None) -> None:
    path, changed = tmp_path / "model.py", tmp_path / "changed.py"
    path.write_text(PARTING)
    changed.write_text(PARTING.replace("if n else", "if n > 0 else"))
    names: dict[str, Any] = {}
    exec(compile(PARTING, str(path), "exec"), names)
    runs = [lambda n=n: names[name](n) for n in (4, 0)]
    found = parting_line(runs[0], runs[1], {})
    assert [one["line"] for one in found] == ([line] if line else [])
    assert parting_line(runs[0], runs[1], {str(path): str(changed)}) == []


def test_the_guard_of_the_first_program_is_reported() -> None:
    stride = "- 0/0: x.stride()[0] == x.size()[1]  # (unknown source x.stride()[0], please file a bug)"
    size = "- 0/2: tensor 'x' size mismatch at index 1. expected 0, actual 3"
    for lines in ((stride, size), (size, stride)):
        message = "\n    ".join(("Recompiling function f in f.py:3", "triggered by:", *lines))
        assert exported_model._guard_of_first(message) == "x.stride()[0] == x.size()[1]"
    assert exported_model._guard_of_first("no list") == "of dynamo"
