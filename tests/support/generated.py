"""Functions on sizes that hypothesis generates, with calls of them."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy
import torch
from concrete import Call, beyond_script
from hypothesis import strategies as st

HEAD = "import math\nimport torch\nfrom torch import Tensor\nfrom typing import Optional\n\n\nLIMIT = 3\n\n\n"
SIGNATURES = st.sampled_from(
    [
        "x: Tensor, y: Tensor, n, m",
        "x, y, n, m",
        "x: Tensor, y: Optional[Tensor], n: int, m: Optional[int]",
        "x: Tensor, y, n: int = 2, m: int = None",
        "x: Tensor, y: Tensor, n: float, m: 'torch.SymInt'",
    ]
)
SIZES = st.sampled_from(
    [
        "x.size(0)",
        "y.shape[0]",
        "x.shape[-1]",
        "y.size(1)",
        "x.numel()",
        "a",
        "b",
        "len(x.shape)",
        "x.dim()",
        "a + b",
        "a - 1",
        "a * 2",
        "a // 2",
        "x.size(0) % n",
        "LIMIT",
        "min(a, n)",
        "max(a, b)",
        "int(a)",
        "x.size(n)",
        "last[0]",
    ]
)
OTHERS = st.sampled_from(["n", "m", "0", "1", "2", "-1", "1.5", "None", "float('nan')", "flag", "n + m"])
SEQUENCES = st.sampled_from(
    [
        "x.shape",
        "y.shape",
        "list(x.shape)",
        "tuple(y.shape)",
        "last",
        "(a, b)",
        "[a, b]",
        "x.size()",
        "(x.shape, x.device)",
        "(y.shape, y.device)",
        "m",
        "()",
        "torch.Size((2, 3))",
        "x.shape[1:]",
    ]
)
ORDERS = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
NUMBERS = st.one_of(SIZES, SIZES, OTHERS)


@st.composite
def comparisons(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["two", "two", "two", "chain", "in", "shapes", "bare", "is", "all", "dtype"]))
    left, right = draw(SIZES), draw(NUMBERS)
    if kind == "two":
        return f"{left} {draw(ORDERS)} {right}"
    if kind == "chain":
        return f"{left} {draw(ORDERS)} {right} {draw(ORDERS)} {draw(NUMBERS)}"
    if kind == "in":
        choices = draw(
            st.sampled_from(["()", "(0,)", "(1, 2)", "[n, 2]", "{0, 1}", "(1, *last)", "last", "(n, 1 // a)"])
        )
        return f"{left} {draw(st.sampled_from(['in', 'not in']))} {choices}"
    if kind == "shapes":
        return f"{draw(SEQUENCES)} {draw(st.sampled_from(['==', '!=']))} {draw(SEQUENCES)}"
    if kind == "is":
        return f"{draw(st.sampled_from(['y', 'm', 'n']))} is not None"
    if kind == "all":
        loop = draw(st.sampled_from(["for d in x.shape", "for d, e in zip(x.shape, y.shape) if e", "for d in last"]))
        element = draw(st.sampled_from(["d != 0", "d == n", "d > 1 and d < 9", "d // n == 1", "last[d] == 1"]))
        return f"{draw(st.sampled_from(['all', 'any']))}({element} {loop})"
    if kind == "dtype":
        return draw(st.sampled_from(["x.dtype == y.dtype", "x.dim() == 2", "x.device != y.device", "x.ndim > 1"]))
    return left


CONDITIONS = st.recursive(
    comparisons(),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda p: f"({p[0]}\n        {p[1]} {p[2]}\n    )"),
        inner.map(lambda one: f"not ({one})"),
        inner.map(lambda one: f"not {one}"),
    ),
    max_leaves=4,
)
MESSAGES = st.sampled_from(
    [
        "",
        "'bad'",
        "f'bad {a}'",
        "'( a' '[ b ]'",
        "n",
        "('two', a)",
        "'%s' % a",
        "str(a)",
        "'{}'.format(n)",
        "f'{sorted(locals())}'",
    ]
)
ERRORS = st.sampled_from(["ValueError", "RuntimeError", "IndexError", "TypeError", "AssertionError", "KeyError"])


@st.composite
def statements(draw: st.DrawFn) -> str:
    condition = draw(CONDITIONS)
    kind = draw(
        st.sampled_from(["raise", "raise", "raise", "check", "value", "least", "branch", "ceil", "assign", "named"])
    )
    if kind == "raise":
        return f"    if {condition}:\n        raise {draw(ERRORS)}({draw(MESSAGES)})\n"
    if kind == "named":
        return f"    if {condition}:\n        said = {draw(MESSAGES) or '1'}\n        raise ValueError(said)\n"
    if kind == "check":
        return f"    torch._check({condition}, lambda: 'bad')\n"
    if kind == "value":
        return f"    a = ({draw(NUMBERS)} {draw(st.sampled_from(['or', 'and']))} {draw(NUMBERS)})\n"
    if kind == "least":
        return f"    b = {draw(st.sampled_from(['min', 'max']))}({draw(SIZES)}, {draw(NUMBERS)})\n"
    if kind == "branch":
        return f"    if {condition}:\n        return ('branch', a)\n"
    if kind == "ceil":
        rounding = draw(st.sampled_from(["math.ceil", "math.floor", "int", "float"]))
        return f"    b = {rounding}({draw(SIZES)} / {draw(st.sampled_from(['n', '2', 'a', '-2']))})\n"
    return f"    flag = {condition}\n"


@st.composite
def functions(draw: st.DrawFn) -> str:
    lines = [HEAD, f"def f({draw(SIGNATURES)}):\n"]
    lines.append(
        draw(st.sampled_from(["", "    if x.dim() != 2:\n        return 'rank'\n", "    assert y is not None\n"]))
    )
    lines.append(draw(st.sampled_from(["    a = x.numel()\n", "    a, *_ = x.shape\n", "    a = n\n"])))
    lines.append(draw(st.sampled_from(["    b = a\n", "    b = y.shape[0]\n", "    b = n\n", "    b = None\n"])))
    lines.append(draw(st.sampled_from(["    last = list(x.shape)\n", "    last = y.shape\n", "    last = [a]\n"])))
    lines.append(draw(st.sampled_from(["    flag = a == b\n", "    flag = n\n"])))
    lines += draw(st.lists(statements(), min_size=1, max_size=3))
    lines.append("    return a, b, flag\n")
    return beyond_script("".join(lines))


TENSORS = [torch.ones(()), torch.ones(3), torch.ones(2, 3), torch.ones(3, 2), torch.ones(0, 3), torch.ones(1, 1, 2)]
VALUES = [
    0,
    1,
    2,
    3,
    -1,
    2.0,
    0.5,
    math.nan,
    math.inf,
    None,
    True,
    False,
    "a",
    (2, 3),
    [2, 3],
    numpy.int64(2),
    torch.tensor(2),
]

MATRICES = [torch.ones(2, 3), torch.ones(3, 2), torch.ones(1, 1), torch.ones(4, 4)]


def calls(text: str, tensors: list[Any], values: list[Any], count: int = 24) -> list[Call]:
    """Return calls that are drawn with the text as the seed, so that a failure is reproducible."""
    draw = random.Random(text)
    chosen = [
        (draw.choice(tensors), draw.choice(tensors), draw.choice(values), draw.choice(values)) for _ in range(count)
    ]
    return [lambda one=one: one for one in chosen]  # type: ignore[misc]
