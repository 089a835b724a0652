"""Tests of hunting: complete sweeps of a few operators of the installed torch, and the output of the command."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import symfix
from symfix.codemods.harness.opinfo_runner import HOPS, SAMPLES
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.workflows.hunt.failure import Mode, Operator
from symfix.codemods.workflows.hunt.journal import HuntJournal
from symfix.codemods.workflows.hunt.page import page
from symfix.codemods.workflows.hunt.sweep import HuntRequest, HuntSession, Sweep, sweep
from symfix.codemods.workflows.hunt.text_report import table

OPERATORS = ("add", "addmv", "arange", "bernoulli", "bincount", "chunk", "cov", "equal", "svd_lowrank")
WRONG_WHEN_TRACED = """
_honest_sum = sum

def sum(*args, **kwargs):
    result = _honest_sum(*args, **kwargs)
    return result + 1 if torch.compiler.is_compiling() else result
"""


WRONG_GRADIENT = """
_honest_split = split

def split(tensor, *args, **kwargs):
    parts = _honest_split(tensor, *args, **kwargs)
    return [part + part - part.detach() for part in parts] if torch.compiler.is_compiling() else parts
"""


@pytest.fixture(scope="session")
def journal(tmp_path_factory: pytest.TempPathFactory, ready: Harness) -> Path:
    """Return the journal of a sweep of `OPERATORS`."""
    path = tmp_path_factory.mktemp("hunt") / "journal.jsonl"
    sweep(HuntRequest(OPERATORS), HuntSession(journal=path, jobs=1, laboratory=ready))
    return path


@pytest.fixture
def found(journal: Path) -> Sweep:
    return sweep(HuntRequest(OPERATORS), HuntSession(journal=journal))


def test_operators_are_told_apart(found: Sweep) -> None:
    assert found.passed == (Operator("add"),)
    assert found.outside == (Operator("bincount"),)
    assert list(found.untestable) == [Operator("arange")]
    assert [str(operator) for operator in found.failed] == [
        "addmv",
        "bernoulli",
        "chunk",
        "cov",
        "equal",
        "svd_lowrank",
    ]
    assert found.recalled == len(OPERATORS)


def test_the_line_of_python_that_forced_a_size_is_named(found: Sweep) -> None:
    failure = next(one for one in found.failures if one.operator.name == "addmv")
    assert failure.mode is Mode.BRANCH
    assert failure.place is not None
    assert failure.place.file == "torch/_decomp/decompositions.py"
    source = (locate(None, None).package.parent / failure.place.file).read_text().splitlines()
    line = source[failure.place.line - 1]
    assert failure.place.expression in line
    assert line[failure.place.start : failure.place.end] in ("", failure.place.expression)
    assert failure.expression.startswith("Eq(u")
    assert failure.arguments.startswith("float32[")


@pytest.mark.parametrize(
    ("name", "mode", "function", "asks"),
    [
        ("chunk", Mode.BRANCH, "at::native::chunk", "operator"),
        ("cov", Mode.DIRECT_THROW, "at::native::cov", "size"),
    ],
)
def test_the_cpp_function_that_forced_a_size_is_named(
    found: Sweep, name: str, mode: Mode, function: str, asks: str
) -> None:
    failure = next(one for one in found.failures if one.operator.name == name)
    assert (failure.mode, failure.place and failure.place.function) == (mode, function)
    assert failure.place is not None
    assert asks in failure.place.expression


def test_values_that_decide_and_the_tests_own_code_are_no_places_of_sizes(found: Sweep) -> None:
    by_name = {failure.operator.name: failure for failure in found.failures}
    assert by_name["equal"].mode is Mode.DATA_DEPENDENT
    assert by_name["equal"].place is None
    assert by_name["equal"].why == "the operator itself: aten.equal.default"
    assert by_name["bernoulli"].mode is Mode.NOT_OURS
    assert by_name["bernoulli"].only_test
    behind = by_name["svd_lowrank"].behind
    assert behind is not None
    assert behind.place is not None
    assert behind.place.file == "torch/_lowrank.py"


def test_a_changed_module_that_gives_other_results_when_traced_deviates(tmp_path: Path) -> None:
    original = locate(None, None).package / "masked" / "_ops.py"
    changed = tmp_path / "changed.py"
    changed.write_text(original.read_text() + WRONG_WHEN_TRACED)
    variant = Variant("changed", modules={"torch.masked._ops": changed})
    journal = tmp_path / "journal.jsonl"
    request = HuntRequest(("masked.sum", "masked.prod"), "backed", samples=1)
    seen = sweep(request, HuntSession(variant, journal=journal, jobs=1))
    assert [str(operator) for operator in seen.passed] == ["masked.prod"]
    (failure,) = seen.failures
    assert (str(failure.operator), failure.mode, failure.place) == ("masked.sum", Mode.DEVIATION, None)
    assert "other values than eager" in failure.message


@pytest.mark.parametrize(("samples", "tried"), [(None, SAMPLES), (SAMPLES + 2, SAMPLES + 2)])
def test_the_backed_protocol_takes_some_samples(samples: int | None, tried: int, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    request = HuntRequest(("linspace.tensor_overload",), "backed", samples=samples)
    assert sweep(request, HuntSession(journal=journal, jobs=1)).passed
    (row,) = HuntJournal(journal).rows.values()
    assert row["tried"] == tried


def test_the_page_names_every_failing_operator_and_loads_nothing(found: Sweep) -> None:
    text = page(found)
    for operator in (*found.failed, *found.untestable):
        assert str(operator) in text
    for loads in ("http://", "https://", "<script src", "<link", "<img", "url("):
        assert loads not in text
    assert "prefers-color-scheme: dark" in text


def test_the_table_puts_the_counts_last(found: Sweep) -> None:
    last = list(table(found))[-1]
    assert "8 operators, 1 pass, 6 fail, 1 can't be tried (1 more take no float32)" in last


def test_an_unknown_operator_gets_the_nearest_names(tmp_path: Path) -> None:
    said = symfix("hunt", "cros_entropy", cwd=tmp_path, code=2).stderr
    assert "no operator test named 'cros_entropy'" in said
    assert "nn.functional.cross_entropy" in said


def test_a_python_without_torch_is_told(tmp_path: Path) -> None:
    said = symfix("hunt", "add", "--torch-python", "/nowhere/python", cwd=tmp_path, code=2).stderr
    assert "/nowhere/python" in said


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory, ready: Harness) -> Sweep:
    """Return a sweep of backward passes."""
    journal = tmp_path_factory.mktemp("hunt") / "journal.jsonl"
    operators = ("mm", "mul", "addmv", "nn.functional.logsigmoid")
    return sweep(HuntRequest(operators, "backward"), HuntSession(journal=journal, jobs=1, laboratory=ready))


def test_a_backward_pass_that_fails_is_told_with_its_formula(trained: Sweep) -> None:
    failures = {failure.operator.name: failure for failure in trained.failures}
    assert set(failures) == {"mm", "nn.functional.logsigmoid"}
    assert failures["mm"].formula == "MmBackward0: mm_mat2_backward"
    assert str(failures["mm"].place) == "torch::autograd::generated::details::mm_mat2_backward"
    inner = failures["nn.functional.logsigmoid"]
    assert inner.formula == "LogSigmoidBackward0: log_sigmoid_backward"
    assert inner.place is not None
    assert inner.place.expression == "buffer.numel() > 0"


def test_a_backward_pass_equals_eager_or_is_not_judged(trained: Sweep) -> None:
    assert trained.passed == (Operator("mul"),)
    assert trained.untestable[Operator("addmv")].startswith("its forward pass fails: ")
    assert "1 can't be tried, 1 of them since the forward pass fails" in "".join(table(trained))


def test_a_gradient_that_differs_from_eager_s_is_a_failure(tmp_path: Path) -> None:
    changed = tmp_path / "functional.py"
    source = (locate(None, None).package / "functional.py").read_text()
    changed.write_text(source + WRONG_GRADIENT)
    variant = Variant("changed", modules={"torch.functional": changed}, identity="changed")
    session = HuntSession(variant, journal=tmp_path / "journal.jsonl", jobs=1)
    found = sweep(HuntRequest(("split",), "backward"), session)
    assert [failure.mode for failure in found.failures] == [Mode.DEVIATION]
    assert "other values than eager" in found.failures[0].message


def test_a_module_is_told_with_the_line_of_its_forward(tmp_path: Path, ready: Harness) -> None:
    modules = ("nn.Linear", "nn.InstanceNorm1d", "nn.LSTMCell")
    session = HuntSession(journal=tmp_path / "journal.jsonl", jobs=1, laboratory=ready)
    found = sweep(HuntRequest(modules, kind="modules"), session)
    assert found.passed == (Operator("nn.Linear"),)
    python, native = (failure.place for failure in found.failures)
    assert python is not None and native is not None
    assert (python.file, python.function) == ("torch/nn/modules/instancenorm.py", "forward")
    assert native.function.endswith("check_rnn_cell_forward_input")
    assert "3 modules, 1 pass, 2 fail" in "".join(table(found))


@pytest.mark.parametrize(
    ("protocol", "operator", "passes", "mode", "place"),
    [
        ("inductor", "nn.functional.glu", "mul", Mode.IMPLICIT_INT, "torch/_inductor/lowering.py"),
        ("dynamic", "kron", "expand", Mode.SPECIALIZATION, "LinearAlgebra.cpp"),
    ],
)
def test_failures_behind_the_trace_have_a_place(
    protocol: str, operator: str, passes: str, mode: Mode, place: str
) -> None:
    found = sweep(HuntRequest((operator, passes), protocol, samples=2), HuntSession(jobs=2, fresh=True))
    assert [str(one) for one in found.passed] == [passes]
    assert [str(one) for one in found.fixed] == (["expand"] if protocol == "dynamic" else [])
    (failure,) = found.failures
    assert (str(failure.operator), failure.mode) == (operator, mode)
    assert failure.place is not None and failure.place.file == place


def test_a_call_that_the_tracer_refuses_is_no_failure_of_inductor() -> None:
    found = sweep(HuntRequest(("trapezoid",), "inductor", samples=2), HuntSession(jobs=1, fresh=True))
    ((operator, reason),) = found.untestable.items()
    assert (str(operator), found.failures) == ("trapezoid", ())
    assert reason.startswith("its trace with unbacked sizes fails: ")


def test_higher_order_operators_fail_in_torch_s_python(tmp_path: Path, ready: Harness) -> None:
    request = HuntRequest(("cond", "map.simple", "while_loop_stack_output"), kind=HOPS)
    found = sweep(request, HuntSession(journal=tmp_path / "journal", jobs=1, laboratory=ready))
    assert (found.kind, found.protocol) == (HOPS, "unbacked")
    places = {str(one.operator): one.place.file for one in found.failures if one.place is not None}
    assert places["cond.simple"] == "torch/_higher_order_ops/cond.py"
    assert places["map.simple"] == "torch/_higher_order_ops/map.py"


@pytest.mark.parametrize("command", ["hunt", "repair"])
def test_higher_order_operators_are_no_modules(tmp_path: Path, command: str) -> None:
    ended = symfix(command, "--protocol", "hop", "--modules", "map", cwd=tmp_path, code=2)
    assert "--protocol hop and --modules exclude each other" in ended.stderr
