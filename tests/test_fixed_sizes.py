"""Tests of dimensions whose size a call itself fixes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")
pytest.importorskip("torch.testing._internal.common_methods_invocations", reason="torch's operator tests need numpy")

from symfix.codemods.harness.children.protocols.specialization_protocol import (  # noqa: E402
    Coincidence,
    dynamic,
    specialized,
)
from symfix.codemods.harness.children.samples.fixed_sizes import fixed_dimensions, pinned_dimensions  # noqa: E402
from symfix.codemods.harness.children.samples.samples import Sample  # noqa: E402
from torch.fx.experimental.symbolic_shapes import ConstraintViolationError  # noqa: E402

SAMPLES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], set[tuple[int, int]]]] = {
    "another size is refused": (torch.linalg.cross, (torch.ones(5, 3), torch.ones(5, 3)), {(0, 1), (1, 1)}),
    "a literal is the size": (torch.Tensor.expand, (torch.ones(4, 1), (4, 2)), {(0, 0)}),
    "the number of results": (torch.unbind, (torch.ones(3, 3),), {(0, 0)}),
    "another size is taken alone": (torch.kron, (torch.ones(2, 5), torch.ones(3, 7)), set()),
    "another size is taken together": (torch.mul, (torch.ones(2, 5), torch.ones(2, 5)), set()),
    "a tensor in a list": (torch.cat, ([torch.ones(2, 5), torch.ones(3, 5)],), set()),
    "another value, not another kind": (torch.sum, (torch.ones(2, 5),), set()),
    "a smaller size is taken": (lambda x: torch.zeros(3).narrow(0, 0, len(x)), (torch.ones(3),), set()),
    "only the values refuse a larger size": (torch.linalg.cholesky, (torch.eye(3) + 1,), set()),
    "a call that eager refuses": (torch.mm, (torch.ones(2, 5), torch.ones(2, 5)), set()),
}


@pytest.mark.parametrize("case", SAMPLES)
def test_a_call_fixes_a_size_if_eager_takes_no_other(case: str) -> None:
    function, args, fixed = SAMPLES[case]
    leaves = args[0] if isinstance(args[0], list) else [one for one in args if isinstance(one, torch.Tensor)]
    every = [(number, at) for number, tensor in enumerate(leaves) for at in range(tensor.dim())]
    assert fixed_dimensions(Sample(function, args, {}), every) == fixed


def test_pinned_dimensions_are_read_from_the_message() -> None:
    sample = Sample(torch.cat, ([torch.ones(2, 5), torch.ones(3, 5)],), {"out": torch.ones(5, 5)})
    said = "You marked L['{}'].size()[{}] as dynamic but your code specialized it to be a constant (5). If you're"
    message = "\n".join(said.format(*one) for one in (("args'][0][1", 1), ("kwargs']['out", 0), ("args'][0][2", 0)))
    message = message.replace("[0][1']", "[0][1]").replace("[0][2']", "[0][2]")
    assert pinned_dimensions(sample, message) == {(1, 1), (2, 0)}


def test_a_constant_that_the_call_does_not_fix_fails_the_protocol() -> None:
    def pinning(x: Any) -> Any:
        return x * int(x.shape[0]) if x.shape[0] == 5 else x

    seen = specialized(Sample(pinning, (torch.ones(5, 4),), {}))
    assert not seen["passed"]
    assert "specialized it to be a constant (5)" in seen["error"]
    assert specialized(Sample(torch.mul, (torch.ones(5, 4), 2), {})) == {"passed": True, "compilations": 1}
    assert specialized(Sample(torch.Tensor.expand, (torch.ones(4, 1), (4, 6)), {}))["passed"]


def test_a_constant_at_one_size_only_is_told_apart() -> None:
    def padded(x: Any) -> Any:
        return x if x.shape[0] == 5 else torch.cat([x, x])

    def unrolled(x: Any) -> Any:
        return sum(x[at] for at in range(x.shape[0]))

    with pytest.raises(ConstraintViolationError) as error:
        dynamic(Sample(padded, (torch.ones(5, 4),), {}))
    assert isinstance(error.value, Coincidence)
    with pytest.raises(ConstraintViolationError) as error:
        dynamic(Sample(unrolled, (torch.ones(5, 4),), {}))
    assert not isinstance(error.value, Coincidence)
