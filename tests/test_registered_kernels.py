"""Tests of registrations, which are compared with C++: right ones pass, and planted faults fail."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import torch
from proofs import verify
from symfix.codemods.harness.children.entrypoints import trial_runner
from symfix.codemods.harness.children.protocols import python_kernels
from symfix.codemods.harness.children.recorders.python_references import composed, fits, reference_of, references
from symfix.codemods.harness.children.samples.samples import Sample
from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness, Variant
from symfix.codemods.verify.change import Change, Verdict
from symfix.codemods.workflows.repair.trials import Trial, try_all
from torch._refs import hsplit
from torch.testing._internal.common_methods_invocations import op_db

KEY = torch._C.DispatchKey.CompositeImplicitAutograd
OPERATOR = next(one for one in op_db if one.name == "hsplit")
INSTALLED = Path(torch.__file__).parent
REFERENCES = INSTALLED / "_refs" / "__init__.py"


@lru_cache(maxsize=1)
def samples() -> list[Sample]:
    return python_kernels.samples_for_registered(OPERATOR)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Any], list[str]]]:
    """Yield a function that returns the protocol's errors for `hsplit` with a Python kernel of both overloads."""
    overloads = [torch.ops.aten.hsplit.int, torch.ops.aten.hsplit.array]
    monkeypatch.setattr(python_kernels, "registrations", [str(one) for one in overloads])

    def said(kernel: Any) -> list[str]:
        for overload in overloads:
            overload.py_kernels[KEY] = kernel
            overload._dispatch_cache.clear()
        assert len(samples()) > 50
        return [error for sample in samples() if (error := python_kernels.registered(sample)["error"])]

    yield said
    for overload in overloads:
        overload.py_kernels.pop(KEY, None)
        overload._dispatch_cache.clear()


def right(a: Any, at: Any) -> Any:
    """Return the result of C++, in which a part beyond the end is empty."""
    if a.dim() < 1 or isinstance(at, int):
        return hsplit(a, at)
    dim = 0 if a.dim() == 1 else 1
    bounds = zip([0, *at], [*at, a.shape[dim]], strict=True)
    return tuple(torch.ops.aten.slice(a, dim, start, end) for start, end in bounds)


def test_the_right_kernel_does_what_c_plus_plus_does(registered: Callable[[Any], list[str]]) -> None:
    assert registered(right) == []


def test_the_reference_of_torch_fails_where_an_index_is_beyond_the_end(
    registered: Callable[[Any], list[str]],
) -> None:
    (said, *_) = registered(hsplit)
    assert "have only non-negative entries" in said and said.endswith("where C++ has no error")


def other_strides(a: Any, at: Any) -> Any:
    return tuple(one.mT.contiguous().mT if one.dim() > 1 else one for one in right(a, at))


def other_dtype(a: Any, at: Any) -> Any:
    return tuple(one.double() if one.dtype == torch.float32 else one for one in right(a, at))


def other_aliasing(a: Any, at: Any) -> Any:
    return tuple(one.clone() for one in right(a, at))


def other_error(a: Any, at: Any) -> Any:
    if a.dim() < 1:
        raise ValueError("torch.hsplit requires a tensor with at least 1 dimension")
    return right(a, at)


def other_words(a: Any, at: Any) -> Any:
    if a.dim() < 1:
        raise RuntimeError("no")
    return right(a, at)


def no_error(a: Any, at: Any) -> Any:
    return (a,) if a.dim() < 1 else right(a, at)


def other_values(a: Any, at: Any) -> Any:
    return tuple(one + 0.001 if one.is_floating_point() else one for one in right(a, at))


def no_gradient(a: Any, at: Any) -> Any:
    return tuple(one.detach() for one in right(a, at))


def other_gradient(a: Any, at: Any) -> Any:
    scaled = 2 * a - a.detach() if a.is_floating_point() and a.requires_grad else a
    return right(scaled, at)


def other_when_empty(a: Any, at: Any) -> Any:
    return (a.clone(),) if a.numel() == 0 else right(a, at)


def writes(a: Any, at: Any) -> Any:
    if a.is_floating_point() and not a.requires_grad:
        a.mul_(1)
    return right(a, at)


def draws(a: Any, at: Any) -> Any:
    torch.rand(())
    return right(a, at)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (other_strides, "laid out as"),
        (other_dtype, "torch.float64"),
        (other_aliasing, "other aliases"),
        (other_error, "another error, ValueError"),
        (other_words, "an error that does not say"),
        (no_error, "no error where C++ has RuntimeError"),
        (other_values, "other values"),
        (no_gradient, "other aliases"),
        (other_gradient, "gradients"),
        (other_when_empty, "results where eager gives"),
        (writes, "other inputs"),
        (draws, "other random numbers"),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_planted_fault_dies(fault: Any, words: str, registered: Callable[[Any], list[str]]) -> None:
    said = registered(fault)
    assert any(words in one for one in said), said[:3]


def test_a_kernel_whose_prim_has_no_derivative_names_its_line() -> None:
    overload = torch.ops.aten.fft_rfft.default
    transform = next(one for one in op_db if one.name == "fft.rfft")
    overload.py_kernels[KEY] = torch._refs.fft.rfft
    overload._dispatch_cache.clear()
    python_kernels.registrations.append(str(overload))
    try:
        sample = python_kernels.samples_of(transform)[0]
        said = python_kernels.registered(sample)["error"]
        frames = python_kernels.undifferentiable(sample, said)
    finally:
        python_kernels.registrations.remove(str(overload))
        overload.py_kernels.pop(KEY)
        overload._dispatch_cache.clear()
    assert said.startswith("gradients: RuntimeError: Trying to backward through prims.fft_r2c")
    assert any(frame.name == "_fft_r2c" and "prims.fft_r2c(" in frame.line for frame in frames)
    assert python_kernels.undifferentiable(sample, "another error") == []


def test_a_prim_that_gives_a_view_is_found_though_the_error_does_not_name_it() -> None:
    def conjugated(x: Any) -> Any:
        doubled = torch._prims.add(x, x)  # has no derivative either, and its error reports that
        return torch._prims.conj(doubled.detach() + x)

    x = torch.randn(3, dtype=torch.complex64, requires_grad=True)
    with pytest.raises(RuntimeError) as error:
        conjugated(x).abs().sum().backward()
    frames = python_kernels.undifferentiable(Sample(conjugated, (x.detach(),), {}), str(error.value))
    assert [frame.line for frame in frames if frame.name == "conjugated"] == [
        "return torch._prims.conj(doubled.detach() + x)"
    ]


@pytest.mark.parametrize("fault", [False, True], ids=["as it is", "copies where C++ gives views"])
def test_the_verifier_asks_it_of_what_a_change_registers(fault: bool, ready: Harness) -> None:
    before = REFERENCES.read_bytes()
    line = b"@aten.hsplit.int.py_impl(DispatchKey.CompositeImplicitAutograd)\n"
    after = before.replace(b"def hsplit(\n", line + b"def hsplit(\n")
    last = b"        return tensor_split(a, split_size, dim)\n"
    copies = b"        return tuple(one.clone() for one in tensor_split(a, split_size, dim))\n"
    at = after.index(last, after.index(b"def hsplit("))
    after = after[:at] + (copies if fault else last) + after[at + len(last) :]
    change = Change(REFERENCES, before, after)
    seen = verify([change], operators=["hsplit"], protocols=["eager"], fresh=True, ready=ready)
    (check,) = [check for check in seen.checks if check.protocol == "registered"]
    assert check.lost is fault, check.after.message
    assert (seen.verdict is Verdict.REGRESSED) is fault
    assert not fault or "other aliases" in seen.reason


def test_the_reference_of_an_operator_is_found_with_its_siblings() -> None:
    found = reference_of(torch.ops.aten.hsplit.array)
    assert found is not None
    assert found[2:] == ("hsplit", "aten.hsplit.array aten.hsplit.int"), "first the one that is asked about"
    lines = Path(found[0]).read_text().splitlines()
    assert lines[found[1] - 1].startswith("def hsplit(")
    transform = reference_of(torch.ops.aten.fft_fft.default)
    assert transform is not None and transform[3] == "aten.fft_fft.default", "`out=` is left as it is"


@pytest.mark.parametrize(
    "overload",
    [
        torch.ops.aten.where.Scalar,  # Inductor lowers it
        torch.ops.aten.matmul.default,  # it is already composite in Python
        torch.ops.aten.add.Tensor,  # it is not composite in C++
        torch.ops.aten.special_expit.default,  # a factory made its reference
        torch.ops.aten.l1_loss.default,  # its reference takes other arguments
        torch.ops.aten.inner.default,  # it has no reference
        torch.ops.aten.fft_fft.out,  # it writes to an argument
    ],
    ids=str,
)
def test_what_does_not_fit_is_left(overload: Any) -> None:
    assert reference_of(overload) is None or "out" not in reference_of(overload)[3]  # type: ignore[index]
    if "out" not in str(overload):
        assert reference_of(overload) is None


def test_a_reference_has_the_defaults_of_the_schema() -> None:
    schema = torch.ops.aten.fft_fft.default  # fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None)
    assert fits(lambda x, n=None, dim=-1, norm=None: x, schema)
    assert fits(lambda x, n=None, dim=-1, norm=None, *, out=None: x, schema)
    assert not fits(lambda x, n=None, dim=0, norm=None: x, schema)
    assert not fits(lambda x, n, dim=-1, norm=None: x, schema)
    assert not fits(lambda x, n=None, dim=-1: x, schema)
    assert not fits(lambda x, n=None, dim=-1, norm=None, *, more: x, schema)


def test_the_operators_that_are_open_are_read_from_the_stack() -> None:
    names = [
        "at::native::fft_hfftn_impl(at::Tensor const&, c10::OptionalArrayRef<c10::SymInt>)",
        "at::_ops::fft_hfftn::call(at::Tensor const&, c10::OptionalArrayRef<c10::SymInt>)",
        "at::_ops::view::call(at::Tensor const&, c10::ArrayRef<c10::SymInt>)",
        "at::_ops::hsplit_int::redispatch(c10::DispatchKeySet, at::Tensor const&, long)",
        "at::_ops::fft_hfftn::call(at::Tensor const&)",
    ]
    assert [one[2] for one in references(names)] == ["hfftn", "hsplit"]
    assert composed(names) == ["aten.fft_hfftn.default", "aten.hsplit.int"]


def test_an_operator_that_python_called_is_read_from_its_kernel() -> None:
    kernel = "c10::impl::make_boxed_from_unboxed_functor<&at::(anonymous namespace)::wrapper_{}>, at::Tensor, bool>"
    names = [
        kernel.format("CompositeImplicitAutograd_int_hsplit"),
        kernel.format("CompositeImplicitAutograd__tensordot"),
        kernel.format("CompositeExplicitAutogradNonFunctional_atol_rtol_tensor_linalg_pinv"),
        kernel.format("CompositeExplicitAutograd__add"),
        kernel.format("CPU__add"),
    ]
    assert composed(names) == ["aten.hsplit.int", "aten.tensordot.default", "aten.linalg_pinv.atol_rtol_tensor"]


def trial(
    tmp_path: Path, module: str, before: str, after: str, operator: str, registered: str, wanted: int = 0, most: int = 0
) -> Trial:
    """Return the trial of an operator on torch with one changed line and one registered operator."""
    home = INSTALLED.joinpath(*module.split(".")[1:])
    original = (home / "__init__.py" if home.is_dir() else home.with_suffix(".py")).read_text()
    assert original.count(before) == 1
    changed = tmp_path / "changed.py"
    changed.write_text(original.replace(before, after))
    laboratory = Harness(Path(sys.executable), tmp_path, Limits(wall=300, cpu=300))
    variant = Variant("registered", modules={module: changed}, registered=(registered,))
    return try_all(laboratory, variant, {operator: wanted}, most, jobs=1).trials[operator]


@pytest.mark.parametrize(("most", "calls"), [(0, None), (1, 8), (6, 48)])
def test_a_trial_of_some_samples_asks_it_of_some_calls(
    most: int, calls: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Sample] = []

    def seen(sample: Sample) -> dict[str, str]:
        asked.append(sample)
        return {"error": ""}

    monkeypatch.setattr(python_kernels, "registrations", ["aten.hsplit.int"])
    monkeypatch.setattr(python_kernels, "registered", seen)
    assert trial_runner._registered(OPERATOR, most) == ("", [])
    assert len(asked) == (calls or len(samples()))


def test_a_trial_refuses_what_does_not_do_as_c_plus_plus(tmp_path: Path) -> None:
    line = "@torch.ops.aten.hsplit.array.py_impl(torch._C.DispatchKey.CompositeImplicitAutograd)\n"
    found = trial(tmp_path, "torch._refs", "def hsplit(\n", f"{line}def hsplit(\n", "hsplit", "aten.hsplit.array")
    assert found.verdict == "wrong" and found.silent and found.frames == ()
    assert "have only non-negative entries" in found.message


def test_a_trial_goes_on_where_only_a_derivative_is_missing(tmp_path: Path) -> None:
    line = "@aten.fft_rfft.default.py_impl(torch._C.DispatchKey.CompositeImplicitAutograd)\n"
    table = "@register_decomposition(aten.fft_rfft)\n"
    found = trial(tmp_path, "torch._refs.fft", table, table + line, "fft.rfft", "aten.fft_rfft.default")
    assert found.verdict == "failed" and found.sample == -1, "before any sample"
    assert (found.frames[0].function, Path(found.frames[0].file).name) == ("_fft_r2c", "fft.py")


def test_what_is_registered_is_asked_first_where_no_sample_failed_before(tmp_path: Path) -> None:
    line = "@aten.fft_rfft.default.py_impl(torch._C.DispatchKey.CompositeImplicitAutograd)\n"
    table = "@register_decomposition(aten.fft_rfft)\n"
    change = ("torch._refs.fft", table, table + line, "fft.rfft", "aten.fft_rfft.default")
    of_sample, of_kernel = (trial(tmp_path, *change, wanted=wanted, most=2) for wanted in (0, 1_000_000))
    assert "data-dependent" in of_sample.message and of_sample.sample == 0
    assert "data-dependent" not in of_kernel.message and of_kernel.sample == 1_000_000


def test_a_trial_names_what_could_be_registered(ready: Harness) -> None:
    found = try_all(ready, Variant("installed"), {"fft.rfft": -1}, most=1, jobs=1).trials["fft.rfft"]
    assert found.verdict == "failed" and found.frames[0].native
    reference, composed = found.frames[-2:]
    assert reference.operators == ("aten.fft_rfft.default",) and reference.function == "rfft"
    assert composed.composed == "aten.fft_rfft.default" and not (reference.composed or composed.native)
