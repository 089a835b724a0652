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
from symfix.python.candidates.inductor_choices import early_fallback, estimated_cost, estimated_order
from symfix.python.candidates.inductor_sizes import floored_size, symbolic_clamp, undecided_sizes
from symfix.python.syntax.module import parse

HEAD = """
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols
from torch.utils._sympy.functions import FloorDiv, Max, Min

pool_fallback = fallback_handler(aten.pool.default)


def lowering(x, size, dim, strides):
    sizevars = V.graph.sizevars
"""

REWRITES = (floored_size, symbolic_clamp, undecided_sizes, estimated_cost, estimated_order, early_fallback)


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
        for rewrite in REWRITES:
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


def test_a_clamped_size_stays_an_expression(context: Context) -> None:
    text = """\
    if dim:
        length = sizevars.evaluate_max(sizevars.evaluate_min(size - dim, dim), 0)
    else:
        length = sizevars.evaluate_min(size, 4)
    return view(x, [*x.get_size(), length])
"""
    first = text.replace("sizevars.evaluate_max(sizevars.evaluate_min(", "Max(Min(")
    second = text.replace("sizevars.evaluate_min(size, 4)", "Min(size, 4)")
    assert rewritten(text, context) == {first, second}
    assert rewritten(text + "    assert length > 0\n", context) == set()


def test_undecided_ones_of_several_sizes_stay_expressions(context: Context) -> None:
    text = "    first, *kernel = V.graph.sizevars.guard_int_seq(x.get_size())\n    return is_ones(kernel)\n"
    kept = """(
        size if has_free_unbacked_symbols(size) else V.graph.sizevars.guard_int(size)
        for size in x.get_size()
    )"""
    assert rewritten(text, context) == {text.replace("V.graph.sizevars.guard_int_seq(x.get_size())", kept)}
    assert rewritten("    kernel = V.graph.sizevars.guard_int_seq(x.get_size())\n", context) == set()


@pytest.mark.parametrize(
    "text",
    [
        "    kernel = first, *rest = sizevars.guard_int_seq(x.get_size())\n    return kernel, first\n",
        "    first, *rest = size.sizevars.guard_int_seq(x.get_size())\n    return first\n",
        "    sizevars.guard_int_seq(x.get_size()); y = x\n    return y\n",
        "    if dim: sizevars.guard_int_seq(x.get_size())\n    return x\n",
    ],
)
def test_sizes_that_another_name_or_line_takes_are_left(text: str, context: Context) -> None:
    assert rewritten(text, context) == set()


def test_a_guard_that_nobody_reads_is_left_out_for_undecided_sizes(context: Context) -> None:
    text = "    sizevars.guard_int_seq(x.get_size())\n    return x\n"
    guarded = """\
    if not has_free_unbacked_symbols(x.get_size()):
        sizevars.guard_int_seq(x.get_size())
    return x
"""
    assert rewritten(text, context) == {guarded}


@pytest.mark.parametrize(
    "text",
    [
        "    strides = sizevars.guarding_hints_or_throw(strides)\n"
        "    order = sorted(range(len(strides)), key=strides.__getitem__)\n    return filled(size, order)\n",
        "    return filled(size, ir.get_stride_order(sizevars.guarding_hints_or_throw(x.stride)))\n",
    ],
)
def test_an_order_of_strides_takes_an_estimate(text: str, context: Context) -> None:
    assert rewritten(text, context) == {text.replace("guarding_hints_or_throw", "optimization_hints")}


@pytest.mark.parametrize(
    "text",
    [
        "    strides = sizevars.guarding_hints_or_throw(strides)\n    return filled(size, strides)\n",
        "    strides = sizevars.guarding_hints_or_throw(strides)\n"
        "    order = sorted(range(len(strides)), key=strides.__getitem__)\n    return strides[order[0]]\n",
        "    strides = sizevars.guarding_hints_or_throw(strides)\n    return max(size, key=strides.__getitem__)\n",
        "    return as_strided(x, sizevars.guarding_hints_or_throw(strides))\n",
    ],
)
def test_strides_that_are_read_are_left(text: str, context: Context) -> None:
    assert rewritten(text, context) == set()


POOLED = """\
    *batch, high, wide = x.get_size()
    high = V.graph.sizevars.guard_int(high)
    wide = V.graph.sizevars.guard_int(wide)
    if high * wide > 25:
        return pool_fallback(x, size)
    return unrolled(x, high, wide)
"""


def test_undecided_sizes_take_the_fallback_of_the_lowering(context: Context) -> None:
    early = "    if has_free_unbacked_symbols([high, wide]):\n        return pool_fallback(x, size)\n"
    assert rewritten(POOLED, context) == {POOLED.replace("    high = V", f"{early}    high = V")}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pool_fallback(x, size)", "pool_fallback(x, [high])"),
        ("pool_fallback(x, size)", "other(x, size)"),
        ("    *batch", "    size = pad(size)\n    *batch"),
        ("guard_int(wide)", "guard_int(high * wide)"),
        ("        return pool_fallback(x, size)", "        def run():\n            return pool_fallback(x, size)"),
    ],
)
def test_a_fallback_of_other_arguments_is_not_taken(old: str, new: str, context: Context) -> None:
    assert rewritten(POOLED.replace(old, new), context) == set()


def test_a_request_names_sizevars_and_one_size() -> None:
    texts = ("sizevars.guard_int(n)", "V.graph.sizevars.guard_int(n)", "x.guard_int(n)", "sizevars.guard_int(n, m)")
    calls = [ast.parse(text, mode="eval").body for text in texts]
    assert [isinstance(one, ast.Call) and is_request(one, "guard_int") for one in calls] == [True, True, False, False]
