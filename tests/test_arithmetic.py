"""Tests of the children's cache of size arithmetic, whose results must equal torch's."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from symfix.codemods.harness.children.protocols import symint_memo
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.sym_node import SymNode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

NAMES = ("_eq", "_ne", "_lt", "_le", "_gt", "_ge", "_mul", "_sub")
OPERATIONS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a * b,
    lambda a, b: a - b,
    lambda a, b: a + b,
    lambda a, b: a % b,
)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield a growing list of the operations that torch performs itself, below the children's cache."""
    done: list[str] = []

    def counting(name: str, operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda self, other: done.append(name) or operation(self, other)

    for name in NAMES:
        monkeypatch.setattr(SymNode, name, counting(name, getattr(SymNode, name)))
    monkeypatch.setattr(SymNode, "expr", SymNode.expr)
    symint_memo.remember_arithmetic.__wrapped__()
    yield done


def sizes(environment: ShapeEnv) -> list[Any]:
    """Return two unbacked symbols, expressions of them, numbers, and a float."""
    one, other = environment.create_unbacked_symint(), environment.create_unbacked_symint()
    return [one, other, one * other, one + 1, 0, 1, 7, torch.sym_float(one)]


def said(environment: ShapeEnv) -> list[str]:
    """Return the expression, type and known value of each operation on each pair of `sizes`."""
    found = []
    for (left, right), operation in itertools.product(itertools.product(sizes(environment), repeat=2), OPERATIONS):
        if not isinstance(left, int) or not isinstance(right, int):
            try:
                result = operation(left, right)
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
                continue
            node = getattr(result, "node", None)
            if node is not None:
                assert node.shape_env is environment
                result = node.expr, node.pytype, node.hint, node.constant, node._optimized_summation
            found.append(str(result))
    return found


def test_each_operation_gives_what_torch_gives(request: pytest.FixtureRequest) -> None:
    plain = said(ShapeEnv())
    done: list[str] = request.getfixturevalue("counted")
    assert said(ShapeEnv()) == plain
    first = len(done)
    assert said(ShapeEnv()) == plain, "of another environment too"
    assert first > 0, "nothing was counted"
    assert len(done) == first, "it was done once more"


def test_a_size_that_came_to_be_known_is_looked_up(counted: list[str]) -> None:
    environment = ShapeEnv()
    one, other = environment.create_unbacked_symint(), environment.create_unbacked_symint()
    assert str((one * other).node.expr) == "u0*u1"
    torch._check(one == 4)
    assert str((one * other).node.expr) == "4*u1"
    assert (one == 4).node.expr


def test_sizes_with_a_value_keep_it(counted: list[str]) -> None:
    def traced(size: int) -> list[str]:
        def shapes(x: torch.Tensor) -> torch.Tensor:
            return x.new_empty(x.shape[0] * x.shape[1], x.shape[0] - 1)

        graph = make_fx(shapes, tracing_mode="symbolic")(torch.ones(size, 3))
        return [str(node.target) for node in graph.graph.nodes]

    first = traced(5)
    assert any("mul" in target for target in first), "an operation of the graph is recorded"
    assert traced(6) == traced(5) == first


def test_what_torch_refuses_is_refused(counted: list[str]) -> None:
    """Use a number outside of any trace, after the same operation inside one."""
    size = ShapeEnv().create_unbacked_symint().node
    five = size.wrap_int(5)
    assert five.mul(five).expr == 25
    homeless = SymNode(five.expr, None, int, 5)
    with pytest.raises(RuntimeError, match="shape_env"):
        homeless.mul(homeless)


def test_a_value_that_the_environment_gives_is_asked_of_each() -> None:
    """Use an environment as in releases that look up the value of ``s0 + u0 - u0``."""

    class Node:
        fx_node = None
        pytype = int

        def __init__(self, environment: Any, expr: str, hint: int | None = None) -> None:
            self.shape_env, self.expr, self._hint = environment, expr, hint

    operate = symint_memo._remembering(lambda one, other: Node(one.shape_env, "s0", one.shape_env), Node, bool)
    assert [operate(Node(value, "s0 + u0"), Node(value, "u0"))._hint for value in (3, 4)] == [3, 4]


def test_no_more_is_remembered_than_has_room(counted: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symint_memo, "_MOST", 2)
    environment = ShapeEnv()
    size = environment.create_unbacked_symint()
    assert [str((size * number).node.expr) for number in (2, 3, 4, 2)] == ["2*u0", "3*u0", "4*u0", "2*u0"]
    assert counted.count("_mul") == 4
