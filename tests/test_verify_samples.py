"""Tests of recorded effects of calls, and of varied calls, on small functions."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from symfix.codemods.harness.opinfo_runner import Answer
from symfix.codemods.verify.change import Verdict
from symfix.codemods.verify.compare.comparison import compare
from symfix.codemods.verify.verdict import decide

torch: Any = pytest.importorskip("torch")
pytest.importorskip("torch.testing._internal.common_methods_invocations", reason="torch's operator tests need numpy")

from symfix.codemods.harness.children.protocols import protocols  # noqa: E402
from symfix.codemods.harness.children.samples import argument_variation, samples  # noqa: E402
from symfix.codemods.harness.children.samples.side_effects import differentiated  # noqa: E402


@pytest.fixture(autouse=True)
def no_warnings_left() -> Iterator[None]:
    with warnings.catch_warnings():
        yield


def copied(x: Any) -> Any:
    return x * 1


def changed(x: Any) -> Any:
    y = x * 1
    x.mul_(2)
    return y


def touched(x: Any) -> Any:
    x.add_(0)
    return x * 1


def drawn(x: Any) -> Any:
    torch.rand(1)
    return x * 1


def warned(x: Any) -> Any:
    warnings.warn("it is slow", stacklevel=2)
    return x * 1


def detached(x: Any) -> Any:
    return x.detach() * 1


def backwards(x: Any) -> Any:
    return (x * 1).t().contiguous().t()


CALLS: list[tuple[Callable[[Any], Any], Callable[[Any], Any], str]] = [
    (lambda x: x, copied, "aliases"),
    (lambda x: x, lambda x: x.view_as(x), "aliases"),
    (lambda x: x[1:], lambda x: x[1:].clone(), "aliases"),
    (copied, changed, "inputs"),
    (copied, touched, "inputs"),
    (copied, drawn, "random numbers"),
    (copied, warned, "UserWarning: it is slow"),
    (copied, detached, "gradients"),
    (copied, lambda x: x * 1.0000001, "bits"),
    (copied, backwards, "[1, 2]"),
    (copied, lambda x: (x * 1).double(), "torch.float64"),
]


@pytest.mark.parametrize(("before", "after", "words"), CALLS, ids=[words for _, _, words in CALLS])
def test_what_a_call_does_besides_its_values_is_seen(
    before: Callable[[Any], Any], after: Callable[[Any], Any], words: str
) -> None:
    seen = [
        protocols.eager(samples.Sample(call, (torch.arange(1.0, 5.0).reshape(2, 2),), {})) for call in (before, after)
    ]
    check = compare(("op", "eager"), *(Answer(samples=(one,), drawn=1) for one in seen))
    assert check is not None
    verdict, reason = decide([check], reached=True)
    assert verdict is Verdict.REGRESSED
    assert words in reason


@pytest.mark.parametrize(
    "call", [copied, changed, drawn, warned, backwards, lambda x: x], ids=lambda call: call.__name__
)
def test_the_same_call_is_seen_the_same(call: Callable[[Any], Any]) -> None:
    seen = [protocols.eager(samples.Sample(call, (torch.ones(2, 2),), {})) for _ in range(2)]
    assert seen[0] == seen[1]


def opinfo(op: Callable[..., Any], *inputs: Any) -> Any:
    """Return an object with the attributes of an OpInfo that are used."""

    def drawn_inputs(*_: Any, **__: Any) -> list[Any]:
        return [SimpleNamespace(input=first, args=(), kwargs=kwargs) for first, kwargs in inputs]

    variants = {"supports_out": False, "inplace_variant": None, "method_variant": None, "error_inputs_func": None}
    return SimpleNamespace(op=op, sample_inputs=drawn_inputs, dtypes={torch.float32}, **variants)


def lines_run(operator: Any) -> set[int]:
    """Return the lines of the operator that varied samples run, relative to its first."""
    code = operator.op.__code__
    seen: set[int] = set()

    def trace(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code is not code:
            return None
        seen.add(frame.f_lineno - code.co_firstlineno)
        return trace

    made = argument_variation.varied_samples_of(operator)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        for sample in made:
            samples.attempt(sample.call)
    finally:
        sys.settrace(before)
    return seen


def test_varied_samples_run_checks_and_combinations_that_no_sample_has() -> None:
    def operator(x: Any, weight: Any = None, smoothing: float = 0.0, reduction: str = "mean") -> Any:
        if x.dim() != 2:
            raise ValueError("dimensions")
        if weight is not None and weight.numel() != x.shape[1]:
            raise ValueError("weight")
        if weight is not None and smoothing > 0 and reduction == "sum":
            return x * weight + smoothing
        if not x.is_contiguous() and x.dtype is torch.float32:
            return x * 2
        return x * 1 if x.numel() else x

    x, weight = torch.ones(2, 3), torch.ones(3)
    given = [(x, {"weight": weight, "reduction": "sum"}), (x, {"smoothing": 0.5, "weight": weight}), (x, {})]
    assert lines_run(opinfo(operator, *given)) == set(range(10))


def test_varied_samples_have_other_layouts_and_give_results_that_can_be_compared() -> None:
    seen: set[str] = set()

    def operator(x: Any) -> Any:
        seen.add("blocked" if x.is_mkldnn else "last" if not x.is_contiguous() and x.stride(1) == 1 else "first")
        return torch.relu(x)

    results = [
        samples.attempt(sample.call)
        for sample in argument_variation.varied_samples_of(opinfo(operator, (torch.ones(1, 2, 3, 4), {})))
    ]
    assert seen == {"blocked", "last", "first"}
    assert all(error or result.layout is torch.strided for result, error in results)


def test_varied_samples_are_the_same_each_time_and_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argument_variation, "MOST", 50)
    operator = opinfo(lambda x, **_: x, *((torch.arange(6.0).reshape(1, 2, 3), {"n": number}) for number in range(40)))
    first, second = (
        [
            samples.digest(list(samples.pytree.tree_leaves(sample.inputs())))
            for sample in argument_variation.varied_samples_of(operator)
        ]
        for _ in range(2)
    )
    assert first == second
    assert len(first) == 50


def test_gradients_are_seen_on_concrete_sizes() -> None:
    found, error = differentiated(samples.Sample(torch.mul, (torch.tensor([2.0, 3.0]), torch.tensor([5.0, 7.0])), {}))
    assert not error
    assert [one.tolist() for one in found] == [[2.5, 10.5], [1.0, 4.5]]


@pytest.mark.parametrize(
    ("tensor", "strides"),
    [
        (torch.ones(3, 2), (5, 1)),
        (torch.ones(2, 3).t(), (1, 7)),
        (torch.ones(3, 4)[:, ::2], (10, 2)),
        (torch.ones(2, 6).t()[::2], (2, 14)),
        (torch.ones(3).expand(2, 3).t(), (5, 1)),
    ],
    ids=["contiguous", "transposed", "each second", "each second, transposed", "expanded"],
)
def test_another_size_has_the_same_kind_of_strides(tensor: torch.Tensor, strides: tuple[int, ...]) -> None:
    """Check the strides. With another order or step Dynamo recompiles, which would reveal nothing about the size."""
    (resized,), _ = samples.Sample(torch.neg, (tensor,), {}).resized(lambda size: 2 * size + 1).inputs()
    assert resized.shape == (7, 5) and resized.stride() == strides


@pytest.mark.parametrize(
    ("tensor", "strides"),
    [
        (torch.ones(3, 2), (0, 1)),
        (torch.ones(2, 3).t(), (1, 3)),
        (torch.ones(3, 4)[:, ::2], (0, 2)),
        (torch.ones(2).expand(3, 2), (0, 1)),
    ],
    ids=["contiguous", "transposed", "each second", "expanded"],
)
def test_strides_keep_their_relation_to_an_empty_dimension(tensor: torch.Tensor, strides: tuple[int, ...]) -> None:
    """Check the strides. An empty tensor's own are at least 1, for which Dynamo recompiles."""
    (resized,), _ = samples.Sample(torch.neg, (tensor,), {}).resized(lambda size: 0 if size == 2 else size).inputs()
    assert resized.shape == (3, 0) and resized.stride() == strides and resized.is_contiguous()


def test_the_samples_chosen_are_those_with_other_arguments() -> None:
    x = torch.ones(2, 3)
    plain = [samples.Sample(copied, (x,), {"mode": "same"}) for _ in range(20)]
    other = samples.Sample(copied, (x,), {"mode": "valid"})
    double = samples.Sample(copied, (x.double(),), {"mode": "same"})
    flat = samples.Sample(copied, (x.flatten(),), {"mode": "same"})
    drawn = dict(enumerate([*plain[:7], other, *plain[7:12], double, *plain[12:], flat]))
    assert samples.telling(drawn, 4) == {0, 7, 13, 22}
    assert samples.telling(drawn, 6) >= {0, 7, 13, 22} and len(samples.telling(drawn, 6)) == 6
    assert samples.telling(drawn, 50) == set(drawn)
    assert samples.telling({}, 3) == set()
