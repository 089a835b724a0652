"""Tests of the place and mode of a failure, found from recorded frames."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from symfix.codemods.harness.children.recorders.frame_capture import explain
from symfix.codemods.workflows.hunt.failure import Failure, Mode, Operator
from symfix.codemods.workflows.hunt.failure_attribution import failures_of
from symfix.codemods.workflows.hunt.failure_groups import by_file, by_mode, by_place
from symfix.codemods.workflows.hunt.frames import plain_name

OPERATOR = Operator("some_op")
SHAPES, NODE, INIT = (
    "torch/fx/experimental/symbolic_shapes.py",
    "torch/fx/experimental/sym_node.py",
    "torch/__init__.py",
)
FAKE, DYNAMO = "torch/_subclasses/fake_tensor.py", "torch/_dynamo/utils.py"
BOOLEAN = [(SHAPES, 8459, "_evaluate_expr"), (NODE, 576, "guard_bool")]
BY_PYTHON = [*BOOLEAN, (NODE, 645, "bool_"), (INIT, 783, "__bool__")]
TRACER = [(FAKE, 2965, "_dispatch_impl"), (DYNAMO, 4231, "run_node")]
ASKS = "torch::impl::PythonSymNodeImpl::guard_bool(char const*, long)"
BINDING = "torch::autograd::THPVariable_x(_object*, _object*, _object*)"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Write a folder with a torch of three lines."""
    (tmp_path / "torch" / "_refs").mkdir(parents=True)
    (tmp_path / "torch" / "_refs" / "__init__.py").write_text("def f(a):\n    if a.numel() == 0:\n        return a\n")
    return tmp_path


def seen(site: Path, python: list[tuple[Any, ...]], native: tuple[str, ...] = (), **fields: Any) -> dict[str, Any]:
    frames = [
        {"file": str(site / file), "line": line, "name": name, **({"columns": columns[0]} if columns else {})}
        for file, line, name, *columns in python
    ]
    return {
        "sample": 3,
        "arguments": "float32[2]",
        "type": "GuardOnDataDependentSymNode",
        "types": [],
        "text": "Could not guard on data-dependent expression Eq(u0, 0).  (Size-like symbols: u0)",
        "condition": "Eq(u0, 0)",
        "frames": frames,
        "native": [{"file": "??", "line": 0, "name": name} for name in native],
        **fields,
    }


def judged(site: Path, row: dict[str, Any]) -> Failure:
    (failure,) = failures_of(OPERATOR, "unbacked", {"failures": [row]}, site, {})
    return failure


REFS = ("torch/_refs/__init__.py", 2, "f", [2, 2, 7, 21])


def test_python_that_asks_is_the_place_with_its_text(site: Path) -> None:
    failure = judged(site, seen(site, [*BY_PYTHON, REFS, *TRACER]))
    assert failure.mode is Mode.BRANCH
    assert str(failure.place) == "torch/_refs/__init__.py:2 f"
    assert failure.place is not None
    assert failure.place.expression == "a.numel() == 0"
    assert (failure.sample, failure.expression) == (3, "Eq(u0, 0)")


def test_an_overlaid_module_is_quoted_and_not_the_installed_one(site: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "changed.py"
    overlay.write_text("def f(a):\n    if a.size(0) == 7 :\n        return a\n")
    row = {"failures": [seen(site, [*BY_PYTHON, REFS])]}
    (failure,) = failures_of(OPERATOR, "unbacked", row, site, {"torch._refs": overlay})
    assert failure.place is not None
    assert failure.place.expression == "a.size(0) == 7"


def test_cpp_that_asks_is_the_place_with_what_it_did(site: Path) -> None:
    native = (
        ASKS,
        "c10::SymBool::guard_bool(char const*, long) const",
        "c10::operator==(c10::SymInt const&, int)",
        "at::native::chunk(at::Tensor const&, long, long)",
        "c10::impl::make_boxed_from_unboxed_functor<F, false>::call(c10::OperatorKernel*)",
        "at::native::split(at::Tensor const&)",
    )
    failure = judged(site, seen(site, [*BOOLEAN, *TRACER], native))
    assert failure.mode is Mode.BRANCH
    assert failure.place is not None
    assert (failure.place.language, failure.place.function) == ("c++", "at::native::chunk")
    assert failure.place.expression == "c10::operator=="
    assert [place.function for place in failure.path] == ["at::native::chunk", "at::native::split"]


def test_python_below_cpp_asks_itself(site: Path) -> None:
    """Use C++ that called Python last, although Python itself needs the truth value."""
    native = ("torch::detail::(anonymous namespace)::ConcretePyInterpreterVTable::dispatch()", "at::native::outer(int)")
    failure = judged(site, seen(site, [*BY_PYTHON, REFS, *TRACER], native))
    assert failure.place is not None
    assert failure.place.language == "python"


def test_a_concrete_call_is_seen_behind_the_fake_tensor_that_answers_it(site: Path) -> None:
    native = (
        "torch::detail::(anonymous namespace)::ConcretePyInterpreterVTable::sizes(c10::TensorImpl const*) const",
        "c10::TensorImpl::size_custom(long) const",
        "at::native::cov(at::Tensor const&, long)",
    )
    integer = [(SHAPES, 1, "evaluate"), (NODE, 556, "guard_int"), (NODE, 502, "int_"), (INIT, 464, "__int__")]
    failure = judged(site, seen(site, [*integer, (FAKE, 3590, "<genexpr>"), *TRACER], native))
    assert failure.mode is Mode.DIRECT_THROW
    assert failure.place is not None
    assert (failure.place.function, failure.place.expression) == ("at::native::cov", "c10::TensorImpl::size_custom")


def test_an_integer_wanted_by_a_binding_is_the_call_in_python(site: Path) -> None:
    native = ("torch::impl::PythonSymNodeImpl::guard_int(char const*, long)", "c10::SymInt::guard_int()", BINDING)
    failure = judged(site, seen(site, [(NODE, 556, "guard_int"), REFS, *TRACER], native))
    assert failure.mode is Mode.IMPLICIT_INT
    assert str(failure.place) == "torch/_refs/__init__.py:2 f"


def test_a_value_that_decides_is_looked_for_where_it_is_asked(site: Path) -> None:
    text = "Could not guard on data-dependent expression Eq(u0, 1).  (Size-like symbols: none)"
    native = (ASKS, "c10::Scalar::toBool() const", "at::native::is_nonzero(at::Tensor const&)", BINDING)
    failure = judged(site, seen(site, [*BOOLEAN, REFS, *TRACER], native, text=text))
    assert failure.mode is Mode.DATA_DEPENDENT
    assert str(failure.place) == "torch/_refs/__init__.py:2 f"


def test_a_composite_that_calls_what_looks_at_values_is_its_place(site: Path) -> None:
    native = ("at::_ops::_ctc_loss::call(at::Tensor const&)", "at::native::ctc_loss(at::Tensor const&)")
    fields = {"type": "DynamicOutputShapeException", "text": "aten._ctc_loss.default"}
    failure = judged(site, seen(site, TRACER, native, **fields))
    assert failure.mode is Mode.DATA_DEPENDENT
    assert failure.place is not None
    assert (failure.place.function, failure.place.expression) == ("at::native::ctc_loss", "at::_ops::_ctc_loss::call")
    itself = judged(site, seen(site, TRACER, native[:1], **fields))
    assert itself.place is None
    assert itself.why


def test_what_dynamo_traces_is_named_by_the_error_text(site: Path) -> None:
    text = (
        "Could not guard on data-dependent expression Ne(u0, 1).  (Size-like symbols: u0)\n\nUser Stack (most recent "
        f'call last):\n  File "somewhere.py", line 1, in <lambda>\n  File "{site}/torch/_refs/__init__.py", line 2, '
        "in f\n"
    )
    failure = judged(site, seen(site, [*BOOLEAN, (DYNAMO, 1, "step")], text=text))
    assert str(failure.place) == "torch/_refs/__init__.py:2 f"
    assert failure.place is not None
    assert failure.place.expression == "if a.numel() == 0:"


def test_the_tracer_itself_is_named_when_nobody_else_is_there(site: Path) -> None:
    failure = judged(site, seen(site, [*BY_PYTHON, *TRACER]))
    assert str(failure.place) == f"{FAKE}:2965 _dispatch_impl"
    assert "tracer" in failure.why


@pytest.mark.parametrize(
    ("kind", "text", "mode"),
    [
        ("DataDependentOutputException", "aten.equal.default", Mode.DATA_DEPENDENT),
        ("NotImplementedError", "aten::x: attempted to run this operator with Meta tensors", Mode.NO_SHAPE_FUNCTION),
        ("RuntimeError", "Cannot call numel() on tensor with symbolic sizes/strides", Mode.DIRECT_THROW),
        ("RuntimeError", "TensorIterator does not support symbolic shapes; please", Mode.TENSOR_ITERATOR),
        ("Unsupported", "Attempted to call function marked as skipped", Mode.NOT_OURS),
        ("ValueError", "what?", Mode.UNKNOWN),
        (
            "GuardOnDataDependentSymNode",
            "Could not guard on data-dependent expression Eq(u0, 1).  (Size-like symbols: none)",
            Mode.DATA_DEPENDENT,
        ),
    ],
)
def test_the_mode_of_other_errors(site: Path, kind: str, text: str, mode: Mode) -> None:
    failure = judged(site, seen(site, [], type=kind, text=text))
    assert failure.mode is mode
    assert failure.place is None
    assert failure.why


def test_a_thrown_error_names_the_cpp_function_in_its_text(site: Path) -> None:
    text = (
        "Cannot call numel() on tensor with symbolic sizes/strides\nException raised from throw_x at t.cpp:1 (most "
        "recent call first):\nframe #0: c10::Error::Error(c10::SourceLocation, std::string) + 0xa (0x1 in lib.so)\n"
        "frame #1: c10::TensorImpl::numel_custom() const + 0x1b (0x1 in lib.so)\n"
        "frame #2: at::native::square(at::Tensor const&) + 0x2 (0x1 in lib.so)\n"
    )
    native = tuple(frame["name"] for frame in explain(RuntimeError(text))["native"])
    assert native[1:] == ("at::native::square(at::Tensor const&)",)
    failure = judged(site, seen(site, [REFS, *TRACER], native, type="RuntimeError", text=text))
    assert failure.mode is Mode.DIRECT_THROW
    assert [place.function for place in failure.path] == ["at::native::square", "f"]


def test_a_size_that_a_schema_takes_as_an_int_is_named_by_the_schema(site: Path) -> None:
    text = (
        "aten::pool() Expected a value of type 'List[int]' for argument 'size' but instead found type 'SymInt'.\nX: 2"
    )
    failure = judged(site, seen(site, TRACER, (), type="RuntimeError", text=text))
    assert (failure.mode, failure.place) == (Mode.IMPLICIT_INT, None)
    assert failure.why == f"the schema takes an int: {text.partition(chr(10))[0]}"


def test_another_result_than_eager_and_a_dead_process_have_no_place(site: Path) -> None:
    row = {
        "crashed": "ended by signal SIGSEGV",
        "tried": 0,
        "failures": [{"sample": 0, "arguments": "", "deviation": "float32 [2] where eager gives float32 [3]"}],
    }
    died, unlike = failures_of(OPERATOR, "unbacked", row, site, {})
    assert (died.mode, died.place) == (Mode.UNKNOWN, None)
    assert (unlike.mode, unlike.place) == (Mode.DEVIATION, None)
    assert died.why
    assert unlike.why


@pytest.mark.parametrize(
    ("full", "plain"),
    [
        ("at::native::chunk(at::Tensor const&, long, long)", "at::native::chunk"),
        ("c10::operator==(c10::SymInt const&, int)", "c10::operator=="),
        ("c10::operator<(c10::SymInt const&, int)", "c10::operator<"),
        ("std::vector<at::Tensor, A<at::Tensor> > at::native::f<int>(int)", "at::native::f"),
        ("at::native::(anonymous namespace)::g(at::Tensor)", "at::native::{anonymous}::g"),
        ("at::native::n(at::Tensor const&)::{lambda(long)#1}::operator()(long) const", "at::native::n"),
        ("c10::SymInt::operator bool() const", "c10::SymInt::operator bool"),
    ],
)
def test_a_cpp_name_without_its_types(full: str, plain: str) -> None:
    assert plain_name(full) == plain


def test_places_are_ranked_by_the_operators_that_they_hold_up(site: Path) -> None:
    row = {"failures": [seen(site, [*BY_PYTHON, REFS])]}
    chunk = {"failures": [seen(site, BOOLEAN, (ASKS, "at::native::chunk(int)"))]}
    failures = [
        *failures_of(Operator("c"), "unbacked", chunk, site, {}),
        *(failure for name in "ab" for failure in failures_of(Operator(name), "unbacked", row, site, {})),
    ]
    first, second = by_place(failures)
    assert first.operators == (Operator("a"), Operator("b"))
    assert second.words == "at::native::chunk"
    assert list(by_file(failures)) == ["torch/_refs/__init__.py", "C++ (file not known)"]
    assert by_mode(failures) == {Mode.BRANCH: 3}
