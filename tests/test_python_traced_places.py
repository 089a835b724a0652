"""Tests of captures by place. A call that torch traces before the fixes is traced after them, from any caller."""

from __future__ import annotations

import itertools
import sys
import textwrap
from types import ModuleType
from typing import Any

import pytest
import torch
from concrete import fixed
from symfix.codemods.harness.children.recorders.captures import capture
from symfix.codemods.verify.compare.captures import lost_captures

BODIES = {
    "refusals": """
        if x.shape[0] != y.shape[0]:
            raise ValueError(f"{x.shape[0]} rows and {y.shape[0]}")
        assert x.shape[0] == y.shape[0] and x.shape[1] >= 2, "sizes"
        if x.shape != y.shape:
            raise RuntimeError("shapes differ")
        return x + y
    """,
    "numbers": """
        n = min(x.shape[0], y.shape[0])
        m = math.ceil(x.shape[1] / 2)
        if m > 8:
            m = 8
        return x[:n] * float(x.shape[0]) + m * y[:n]
    """,
    "branches": """
        if x.shape[0] == 0:
            return x
        if x.shape == y.shape and len(x) != 1:
            return x / x.shape[0]
        return x * y.sum() if y.shape[1] in (0, 1) else x
    """,
    "comprehension": """
        return sum(x * min(n, y.shape[0]) for n in x.shape if n != 1)
    """,
}
NUMBERS = itertools.count()
PLACES = {
    "function": "def f(x: Tensor, y: Tensor, *, by_name=None):\nBODY",
    "forward": (
        "class Net(torch.nn.Module):\n    def forward(self, x: Tensor, y: Tensor, *, by_name=None):\nBODY\nf = Net()\n"
    ),
    "vmap": (
        "def inner(x: Tensor, y: Tensor, *, by_name=None):\nBODY\n"
        "def f(x, y):\n    return torch.vmap(inner)(x.unsqueeze(0), y.unsqueeze(0))\n"
    ),
    "grad": (
        "def inner(x: Tensor, y: Tensor, *, by_name=None):\nBODY\n"
        "def f(x, y):\n    return torch.func.grad(lambda z: inner(z, y).sum())(x)\n"
    ),
    "fake": (
        "@torch.library.custom_op('traced::opNUMBER', mutates_args=())\ndef op(x: Tensor, y: Tensor) -> Tensor:\n"
        "    return real(x, y).clone()\n\n@op.register_fake\ndef _(x, y):\n    return inner(x, y).clone()\n\n"
        "def inner(x: Tensor, y: Tensor, *, by_name=None):\nBODY\n"
        "def real(x: Tensor, y: Tensor, *, by_name=None):\nBODY\n"
        "def f(x, y):\n    return op(x, y)\n"
    ),
}
TRACERS = ("compile", "compile static", "compile unbacked", "export", "strict export")


def text_of(place: str, body: str) -> str:
    depth = 8 if place == "forward" else 4
    inside = textwrap.indent(textwrap.dedent(BODIES[body]).strip(), " " * depth)
    return f"import math\nimport torch\nfrom torch import Tensor\n\n\n{PLACES[place].replace('BODY', inside)}"


def function_of(text: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the function of a text, in a module that can be imported, as strict export requires."""
    number = next(NUMBERS)
    module = ModuleType(f"places{number}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(text.replace("NUMBER", str(number)), "places.py", "exec"), vars(module))
    return vars(module)["f"]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("place", PLACES)
def test_fixes_lose_no_capture_in_a_place(place: str, body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = text_of(place, body)
    after = fixed(text, unsafe=True)
    assert after != text
    call = (torch.ones(3, 4), torch.ones(3, 4))
    before, now = (capture(function_of(one, monkeypatch), call, {}, TRACERS) for one in (text, after))
    assert any(not one["error"] for one in before.values())
    assert lost_captures(before, now) == {}
