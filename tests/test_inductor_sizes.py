"""Tests of candidates for sizes in Inductor's lowerings."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from symfix.codemods.engine.torch_context import TorchSurroundings
from symfix.codemods.model.edit import apply
from symfix.codemods.model.rule import Context
from symfix.codemods.model.source_file import SourceFile
from symfix.python.analysis.types.sizevars import is_request
from symfix.python.candidates.inductor_sizes import estimated_cost, floored_size
from symfix.python.syntax.module import parse

HEAD = """
from torch.utils._sympy.functions import FloorDiv


def lowering(x, size, dim):
    sizevars = V.graph.sizevars
"""


@pytest.fixture(scope="module")
def context() -> Context:
    pytest.importorskip("torch")
    return TorchSurroundings().context()


def rewritten(text: str, context: Context) -> set[str]:
    """Return the body of the function after each fix of the calls in it."""
    source = SourceFile(Path("torch/_inductor/lowering.py"), (HEAD + text).encode())
    module = parse(source)
    texts = set()
    for call in module.nodes.every(ast.Call):
        for rewrite in (floored_size, estimated_cost):
            for fix in rewrite("alternative", module, call, context):
                texts.add(apply(source.content, fix.edits).decode().removeprefix(HEAD))
    return texts


def test_half_of_a_size_stays_an_expression(context: Context) -> None:
    text = "    half = V.graph.sizevars.guard_int(x.get_size()[dim]) // 2\n    return slice_(x, dim, half, half * 2)\n"
    after = text.replace("V.graph.sizevars.guard_int(x.get_size()[dim]) // 2", "FloorDiv(x.get_size()[dim], 2)")
    assert rewritten(text, context) == {after}
    direct = "    return slice_(x, dim, 0, end=V.graph.sizevars.guard_int(size) // 2)\n"
    assert rewritten(direct, context) == {"    return slice_(x, dim, 0, end=FloorDiv(size, 2))\n"}


HALF = "    half = sizevars.guard_int(size) // 2\n"


@pytest.mark.parametrize(
    "text",
    [
        "    if half == dim:\n        return clone(x)\n",
        "    return [select(x, dim, at) for at in range(half)]\n",
        "    return slice_(x, dim, int(half))\n",
        "    return x if half else slice_(x, dim, half)\n",
        "    return x.get_size()[half]\n",
        "    half = half + 1\n    return slice_(x, dim, half)\n",
        "    FloorDiv = dim\n    return slice_(x, dim, half)\n",
        "    return half\n",
    ],
)
def test_a_half_that_is_read_as_a_number_is_left(text: str, context: Context) -> None:
    assert rewritten(HALF + text, context) == set()


def test_a_choice_that_only_costs_speed_takes_an_estimate(context: Context) -> None:
    text = """\
    if sizevars.guarding_hint_or_throw(size) > 0:
        x.mark_reuse(sizevars.guarding_hint_or_throw(size * 2))
"""
    assert rewritten(text, context) == {text.replace("guarding_hint_or_throw", "optimization_hint")}


@pytest.mark.parametrize(
    "text",
    [
        "    half = V.graph.sizevars.guard_int(size)\n",
        "    half = V.graph.sizevars.guard_int(size) // dim\n",
        "    half = V.graph.sizevars.guard_int(size) // 0\n",
        "    half = 2 // V.graph.sizevars.guard_int(size)\n",
        "    half = x.guard_int(size) // 2\n",
        "    half = sizevars.guarding_hint_or_throw(size) // 2\n",
        "    if sizevars.guarding_hint_or_throw(size) > 0:\n        return clone(x)\n",
        "    if (n := sizevars.guarding_hint_or_throw(size)) > 0:\n        x.mark_reuse(n)\n    return n\n",
        "    if sizevars.guarding_hint_or_throw(size) > 0:\n        x.mark_reuse(2)\n        x = clone(x)\n",
        "    if sizevars.guarding_hint_or_throw(size) > 0:\n        x.mark_reuse(2)\n    else:\n        x = clone(x)\n",
    ],
)
def test_a_size_that_decides_a_result_is_left(text: str, context: Context) -> None:
    assert rewritten(text, context) == set()


def test_a_request_names_sizevars_and_one_size() -> None:
    texts = ("sizevars.guard_int(n)", "V.graph.sizevars.guard_int(n)", "x.guard_int(n)", "sizevars.guard_int(n, m)")
    calls = [ast.parse(text, mode="eval").body for text in texts]
    assert [isinstance(one, ast.Call) and is_request(one, "guard_int") for one in calls] == [True, True, False, False]
