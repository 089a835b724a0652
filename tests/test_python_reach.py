from __future__ import annotations

import ast
from pathlib import Path

import pytest
from symfix.codemods.model.source_file import SourceFile
from symfix.python.analysis.flow.flow import Flow
from symfix.python.analysis.types.may_types import Kind
from symfix.python.syntax.module import Module

SOURCES = [
    "x.shape[0]",
    "x.size(0)",
    "x.stride()",
    "x.numel()",
    "x.item()",
    "torch.broadcast_shapes(a)",
    "torch.sym_max(a, b)",
    "alpha == 1.0",
    "isinstance(a, torch.SymInt)",
]


def reached(text: str) -> set[str]:
    flow = Flow(Module(SourceFile(Path("torch/a.py"), text.encode())))
    return {function.node.name for function in flow.reached}


@pytest.mark.parametrize("source", SOURCES)
def test_what_a_size_comes_from(source: str) -> None:
    assert reached(f"import torch\ndef f(x, a, b, alpha):\n    return {source}\ndef g(x):\n    return x + 1\n") == {"f"}


def test_an_annotation_is_a_source() -> None:
    assert reached("def f(n: SymInt):\n    return n\ndef g(n: int):\n    return n\n") == {"f"}


def test_sizes_go_to_callees_callers_and_inner_functions() -> None:
    text = (
        "def passes(x):\n    return helper(x.numel())\n"
        "def helper(n):\n    return n == 0\n"
        "def asks(x):\n    return passes(x)\n"
        "def outer(n):\n    def inner():\n        return helper(n)\n    return inner\n"
        "def alone(n):\n    return n == 0\n"
    )
    assert reached(text) == {"passes", "helper", "asks", "outer", "inner"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("probe(length(y))\n", Kind.SIZE),
        ("probe([length(one) for one in y])\n", Kind.SIZES),
        ("def uses(y):\n    n = length(y)\n    probe(n)\n", Kind.SIZE),
        ("def other(n):\n    probe(n)\n", Kind.UNKNOWN),
    ],
)
def test_what_is_asked_about_is_settled_with_what_it_calls(text: str, kind: Kind) -> None:
    module = Module(
        SourceFile(
            Path("torch/a.py"), f"import torch\ndef length(x: torch.Tensor):\n    return x.size(0)\n{text}".encode()
        )
    )
    (probe,) = (one for one in module.nodes.calls if isinstance(one.func, ast.Name) and one.func.id == "probe")
    assert Flow(module).kind(probe.args[0]) is kind
