"""Tests of the text of schemas: their parts, the positions of these, and invalid schemas."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from symfix.codemods.torchapi.schema_text import SchemaError, read_schema

WARP = (
    "ns::warp.out(Tensor(a!) self, int n=1, int[2] k=[1, 2], int? m=None, *, str mode='a, (b', Tensor? w) -> Tensor(a!)"
)


def test_a_schema_is_read_into_its_parts() -> None:
    schema = read_schema(WARP)
    assert (schema.namespace, schema.name, schema.overload, schema.returns) == ("ns", "warp", "out", "Tensor(a!)")
    assert schema.full_name == "warp.out"
    assert [(one.name, one.type, one.default, one.keyword_only) for one in schema.arguments] == [
        ("self", "Tensor(a!)", None, False),
        ("n", "int", "1", False),
        ("k", "int[2]", "[1, 2]", False),
        ("m", "int?", "None", False),
        ("mode", "str", "'a, (b'", True),
        ("w", "Tensor?", None, True),
    ]
    assert all(WARP[one.start : one.end] == one.type for one in schema.arguments)


@pytest.mark.parametrize(
    ("written", "widened"),
    [
        ("int", "SymInt"),
        ("int?", "SymInt?"),
        ("int[]", "SymInt[]"),
        ("int[2]", "SymInt[2]"),
        ("int[]?", "SymInt[]?"),
        ("int?[]", None),
        ("SymInt", None),
        ("Tensor", None),
        ("int[][]", None),
    ],
)
def test_types_that_a_symint_can_take_the_place_of(written: str, widened: str | None) -> None:
    argument = read_schema(f"f({written} n) -> Tensor").argument("n")
    assert argument is not None
    assert argument.widened == widened


def test_a_name_may_be_left_out_and_lines_may_be_broken() -> None:
    schema = read_schema("(Tensor x,\n   int n) -> (Tensor, Tensor)\n")
    assert (schema.name, [one.name for one in schema.arguments]) == ("", ["x", "n"])
    assert read_schema("f() -> ()").arguments == ()


def test_types_of_classes_lists_and_dictionaries_are_read() -> None:
    text = "f(__torch__.torch.classes.ns.Thing t, Dict(str, Tensor) d, Tensor(a -> *)[] l, (int, int)? p) -> int"
    assert [one.type for one in read_schema(text).arguments] == [
        "__torch__.torch.classes.ns.Thing",
        "Dict(str, Tensor)",
        "Tensor(a -> *)[]",
        "(int, int)?",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("f", "starts with a name and an opening parenthesis"),
        ("f(Tensor x -> Tensor", "is not closed"),
        ("f(Tensor x] -> Tensor", "is not closed"),
        ("f(Tensor x)", "ends with '-> '"),
        ("f(Tensor x, int) -> Tensor", "not an argument of a schema: 'int'"),
        ("f(Tensor x,, int n) -> Tensor", "not an argument of a schema"),
        ("f(Tensor x, int x) -> Tensor", "two arguments called x"),
        ("f(Tensor ä) -> Tensor", "ASCII"),
        ("f(*, *, int n) -> Tensor", "not an argument"),
    ],
)
def test_what_is_no_schema_is_one_clear_line(text: str, words: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(words)) as raised:
        read_schema(text)
    assert "\n" not in str(raised.value)


def test_every_schema_of_the_installed_torch_is_read() -> None:
    import torchgen

    native = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    lines = [line[len("- func:") :].strip() for line in native.read_text().splitlines() if line.startswith("- func:")]
    assert len(lines) > 2000
    assert all(read_schema(line).arguments is not None for line in lines)
