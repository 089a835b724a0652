"""Formulas of derivatives.yaml as the C++ functions that torchgen generates from them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ...codemods.torchapi import DeclaredArgument, DispatcherSignature
from ..syntax.entries import Entry, Line, TextPiece

SPACE = "namespace torch::autograd::generated::details {\n"
"""Start of the namespace of the functions, without its closing brace."""
END = "}\n"
_NOT_FORMULAS = frozenset({"output_differentiability"})
_WORDS = frozenset({"non_differentiable", "not_differentiable", "auto_linear", "auto_element_wise"})
_LISTED = re.compile(r"\[\d*\]")
_CPP = {
    "Tensor": "const Tensor & {}", "Tensor?": "const c10::optional<Tensor> & {}", "Tensor[]": "TensorList {}",
    "Tensor?[]": "const c10::List<c10::optional<Tensor>> & {}", "int": "int64_t {}",
    "int?": "c10::optional<int64_t> {}",
    "int[]": "IntArrayRef {}", "int[]?": "OptionalIntArrayRef {}", "SymInt": "c10::SymInt {}",
    "SymInt?": "c10::optional<c10::SymInt> {}", "SymInt[]": "c10::SymIntArrayRef {}",
    "SymInt[]?": "OptionalSymIntArrayRef {}", "float": "double {}", "float?": "c10::optional<double> {}",
    "bool": "bool {}", "bool[]": "std::array<bool,4> {}", "Scalar": "const Scalar & {}",
    "Scalar?": "const c10::optional<Scalar> & {}", "str": "c10::string_view {}",
    "ScalarType": "ScalarType {}", "ScalarType?": "c10::optional<ScalarType> {}",
}  # fmt: skip
"""C++ parameter of a formula that torchgen generates for an argument, by the argument's type."""


def lines(entry: Entry) -> Iterator[Line]:
    """Yield the lines of an entry whose values are formulas."""
    waiting = list(entry.fields)
    while waiting:
        line = waiting.pop(0)
        if line.inner:
            waiting += line.inner
        elif line.key.text not in _NOT_FORMULAS and line.value.text not in _WORDS:
            yield line


def unquoted(value: TextPiece) -> TextPiece | None:
    """Return the text of a formula, or None if its quotes cannot be parsed."""
    text = value.text
    quote = text[:1] if text[:1] in "'\"" else ""
    if not quote:
        return TextPiece(text.partition(" #")[0], value.start)
    if len(text) < 2 or text[-1] != quote or "\\" in text or quote in text[1:-1]:
        return None
    return TextPiece(text[1:-1], value.start + 1)


def parameters(entry: Entry) -> list[str]:
    """Return the parameters of the function that a formula becomes, with the arguments of the operator last."""
    given = ["const Tensor & grad", "const variable_list & grads", "const Tensor & result", *_results(entry)]
    return given + [_parameter(one, one.type) for one in entry.schema.arguments]


def around(name: str, given: Sequence[str]) -> tuple[str, str]:
    """Return the text before and after a formula that is a function of this name."""
    return f"Tensor {name}({', '.join(given)}) {{\nreturn ", ";\n}\n"


def signature(entry: Entry, names: Collection[str], name: str) -> DispatcherSignature:
    """Return the signature of the function if its parameters ``names`` take SymInts."""
    given = parameters(entry)
    expected = [_apart(one) for one in given[: len(given) - len(entry.schema.arguments)]]
    for argument in entry.schema.arguments:
        kind = argument.widened if argument.name in names and argument.widened else argument.type
        expected.append(_apart(_parameter(argument, kind)))
    return DispatcherSignature(name, tuple(expected))


def _parameter(argument: DeclaredArgument, kind: str) -> str:
    plain = re.sub(r"\([^()]*\)", "", kind)
    return _CPP.get(_LISTED.sub("[]", plain), "const Unknown & {}").format(argument.name)


def _apart(parameter: str) -> tuple[str, str]:
    kind, _, name = parameter.rpartition(" ")
    return kind, name


def _results(entry: Entry) -> Iterator[str]:
    """Yield ``self_t`` and ``self_p``: the tangents and primals that a forward formula names."""
    for argument in entry.schema.arguments:
        if argument.type.startswith("Tensor") and "[" not in argument.type:
            yield f"const Tensor & {argument.name}_t"
            yield f"const Tensor & {argument.name}_p"
