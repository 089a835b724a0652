"""Tests of the Python wing's analysis of names, places and text."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from symfix.codemods.model.source_file import SourceFile
from symfix.python.analysis.flow.flow import Flow
from symfix.python.analysis.types.annotations import said
from symfix.python.analysis.types.may_types import Kind, TupleKind, join
from symfix.python.analysis.types.must_types import ScalarType, SequenceType
from symfix.python.syntax.module import Module

HEAD = "import math\nimport torch\nfrom torch import Tensor\n\n"


def kind_of(body: str, name: str, arguments: str = "x: Tensor, y: Tensor, k: int, s: float") -> Kind:
    """Return the kind of ``name`` at the end of ``body``."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    text = f"{HEAD}def f({arguments}):\n{lines}    probe({name})\n    torch.sym_max(0, 1)\n"
    module = Module(SourceFile(Path("torch/_refs/a.py"), text.encode()))
    (probe,) = (call for call in module.nodes.calls if ast.unparse(call.func) == "probe")
    return Flow(module).kind(probe.args[0])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("a = x.shape[0]", Kind.SIZE),
        ("a = x.size()", Kind.SIZES),
        ("a = x.size(-1) // k", Kind.SIZE),
        ("a = x.size(-1) / k", Kind.RATIO),
        ("a = x.size(-1) * 0.5", Kind.RATIO),
        ("n, *a = x.shape", Kind.SIZES),
        ("(n, a), b = (x.dim(), x.numel()), 1", Kind.SIZE),
        ("a = [d + 1 for d in x.shape]", Kind.SIZES),
        ("a = math.prod(x.shape[1:])", Kind.SIZE),
        ("for i, a in enumerate(x.shape): pass", Kind.SIZE),
        ("for a, n in enumerate(x.shape): pass", Kind.CONCRETE),
        ("for a, n in zip(x.stride(), x.shape): pass", Kind.STRIDE),
        ("a = x.size(0) == y.size(0)", Kind.TRUTH),
        ("a = x.shape == y.shape and k", Kind.TRUTH),
        ("a = []\na.append(x.size(0))", Kind.SIZES),
        ("a = x.unsqueeze(0).shape", Kind.SIZES),
        ("a = x.dim() + len(x.shape) + x.ndim", Kind.CONCRETE),
        ("a = x.dtype == y.dtype", Kind.CONCRETE),
        ("a = x.shape is not None", Kind.CONCRETE),
        ("a = not x.size(0)", Kind.CONCRETE),
        ("a = k + 1", Kind.UNKNOWN),
        ("a = s", Kind.NUMBER),
    ],
)
def test_kinds_of_expressions(body: str, kind: Kind) -> None:
    assert kind_of(body, "a") is kind


@pytest.mark.parametrize("arguments", ["df", "df: DataFrame", "df, mesh: DeviceMesh"])
def test_a_shape_needs_a_tensor(arguments: str) -> None:
    assert kind_of("a = df.shape[0]", "a", arguments) is Kind.UNKNOWN


def test_only_what_tensors_have_shows_a_tensor() -> None:
    assert kind_of("a = x.shape[0]\nx.new_empty(1)", "a", "x") is Kind.SIZE


def test_helpers_of_the_file_are_followed() -> None:
    text = (
        f"{HEAD}def sizes(t: Tensor):\n    return t.dim(), t.size(0)\n\n\n"
        "def inner(n):\n    probe(n)\n\n\n"
        "def f(x: Tensor):\n    rank, n = sizes(x)\n    inner(n)\n"
    )
    module = Module(SourceFile(Path("a.py"), text.encode()))
    (probe,) = (call for call in module.nodes.calls if ast.unparse(call.func) == "probe")
    assert Flow(module).kind(probe.args[0]) is Kind.SIZE


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("Tensor", Kind.TENSOR),
        ("Optional[torch.Tensor]", Kind.TENSOR),
        ("list[Tensor] | None", Kind.TENSORS),
        ("torch.SymInt", Kind.SIZE),
        ("Sequence[IntLikeType]", Kind.SIZES),
        ("ShapeType", Kind.SIZES),
        ("TensorLikeType | NumberType", Kind.NUMBER),
        ("bool", Kind.CONCRETE),
        ("Callable[[Tensor], int]", Kind.UNKNOWN),
        ("int", Kind.UNKNOWN),
        (None, Kind.UNKNOWN),
    ],
)
def test_annotations(annotation: str | None, kind: Kind) -> None:
    assert said(*annotated_by(annotation)).may is kind


@pytest.mark.parametrize(
    "annotation", ["cute.Shape", "Tile", "jax.Size", "Missing", "mine.Tensor", "Optional[cute.Shape]"]
)
def test_a_name_in_an_annotation_means_what_its_import_says(annotation: str) -> None:
    assert said(*annotated_by(annotation)).may is Kind.UNKNOWN
    assert said(*annotated_by(annotation)).sure in (None, ScalarType.OPTIONAL)


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        ("int", ScalarType.WHOLE),
        ("Union[int, torch.SymInt]", ScalarType.WHOLE),
        ("IntLikeType", ScalarType.WHOLE),
        ("'Tensor'", ScalarType.TENSOR),
        ("Own", SequenceType(False, ScalarType.WHOLE)),
        ("list[int]", SequenceType(True, ScalarType.WHOLE)),
        ("tuple[int, str]", SequenceType(False, None, (ScalarType.WHOLE, ScalarType.TEXT))),
        ("Optional[int]", ScalarType.OPTIONAL),
        ("int | None", ScalarType.OPTIONAL),
        ("float", ScalarType.NUMBER),
        ("Optional[torch.Size]", ScalarType.OPTIONAL),
    ],
)
def test_what_an_annotation_leaves_no_doubt_of(annotation: str, value: object) -> None:
    assert said(*annotated_by(annotation)).sure == value


def annotated_by(annotation: str | None) -> tuple[Module, ast.expr | None]:
    """Return a module with this annotation of a parameter, and the annotation."""
    head = (
        "import cutlass.cute as cute, jax, mine, torch\nfrom cutlass.cute import Shape as Tile\n"
        "from torch import Tensor\n"
        "from torch._prims_common import IntLikeType, NumberType, ShapeType, TensorLikeType\n"
        "from typing import Callable, Optional, Sequence, Union\nOwn = tuple[int, ...]\n"
    )
    text = f"{head}def f(a{': ' + annotation if annotation else ''}): pass\n"
    module = Module(SourceFile(Path("a.py"), text.encode()))
    return module, module.functions[0].arguments[0].annotation


def test_joining_keeps_the_symbolic() -> None:
    assert join(Kind.CONCRETE, Kind.SIZE) is Kind.SIZE
    assert join(TupleKind((Kind.SIZE, Kind.CONCRETE)), TupleKind((Kind.CONCRETE, Kind.CONCRETE))) == TupleKind(
        (Kind.SIZE, Kind.CONCRETE)
    )
    assert TupleKind((Kind.SIZE, Kind.CONCRETE)).kind is Kind.SIZES


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_spans_are_bytes_whatever_the_lines_end_with(end: str, mark: str) -> None:
    text = f"{mark}x = 'größe'; y = a == b{end}def f():{end}\tif (n  ==  0):{end}\t\treturn 'ü', m != 1"
    module = Module(SourceFile(Path("a.py"), text.encode()))
    assert [module.text(node) for node in module.nodes.every(ast.Compare)] == [b"a == b", b"n  ==  0", b"m != 1"]


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("if (a == b): pass", b"(a == b)"),
        ("x = not((a == b))", b"((a == b))"),
        ("f(a == b)", b"a == b"),
        ("f((a == b))", b"(a == b)"),
        ("f[0](a == b)", b"a == b"),
        ("x = (a == b, 1)", b"a == b"),
        ("return_(a == b)", b"a == b"),
    ],
)
def test_grouping_parentheses_are_told_from_a_calls(text: str, grouped: bytes) -> None:
    module = Module(SourceFile(Path("a.py"), text.encode()))
    (comparison,) = module.nodes.every(ast.Compare)
    start, end = module.grouped_span(comparison)
    assert module.source.content[start:end] == grouped
