"""Edits of derivatives.yaml: the signature that repeats a schema, and the formulas that name its arguments.

A formula is C++ that torchgen puts into a function of torch::autograd::generated::details. It is read here as the
body of such a function, at the same distance between its bytes as in the yaml.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...codemods.engine.edits import Edit
from ...codemods.engine.rule import Context
from ...codemods.engine.source import SourceFile
from ...codemods.torchapi import DeclaredArgument, Signature
from ...cpp.analysis.graph import Refusal
from ...cpp.analysis.promotions import Analysis, analyse
from ...cpp.analysis.reasons import SkipReason
from ...cpp.rewrite.emit import emit
from ...cpp.syntax.tree import arguments
from ..syntax.entries import Entry, Line, Piece
from .manual import Helpers, helpers, parameters

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
"""What torchgen makes of an argument in a formula."""
_SPACE = "namespace torch::autograd::generated::details {\n"
_HEAD = "Tensor formula("
_BODY = ") {\nreturn "
_TAIL = ";\n}\n}\n"


@dataclass(frozen=True)
class Formulas:
    """The edits of one entry, or why a formula of its takes plain integers only."""

    edits: tuple[Edit, ...]
    refused: tuple[str, ...]
    asks: Mapping[str, frozenset[str]]
    """Parameters of functions that the formulas call, which would have to take SymInts."""


def formulas(root: Path, entry: Entry, names: Collection[str], context: Context, stubs: Mapping[str, str]) -> Formulas:
    """What an entry of derivatives.yaml says once the arguments ``names`` take SymInts.

    ``stubs`` define the functions of FunctionsManual that take SymInts by then.
    """
    edits = list(entry.widened(names))
    refused: list[str] = []
    asks: dict[str, frozenset[str]] = {}
    for line in _lines(entry):
        written = _written(entry, line, names, context, stubs)
        if isinstance(written, _Refused):
            refused.append(f"the formula of {line.key.text}: {written.detail}")
            callee, positions = written.callee, written.positions
            own = parameters(root, callee, context) if callee else ()
            if own and callee not in stubs:
                asks[callee] = asks.get(callee, frozenset()) | {own[at] for at in positions if at < len(own)}
        else:
            edits += written
    return Formulas(tuple(edits), tuple(refused), asks)


@dataclass(frozen=True)
class _Refused:
    """Why a formula stays, and the call that takes plain integers, with the positions that would not get any."""

    detail: str
    callee: str = ""
    positions: tuple[int, ...] = ()


def _lines(entry: Entry) -> Iterator[Line]:
    waiting = list(entry.fields)
    while waiting:
        line = waiting.pop(0)
        if line.inner:
            waiting += line.inner
        elif line.key.text not in _NOT_FORMULAS and line.value.text not in _WORDS:
            yield line


def _written(
    entry: Entry, line: Line, names: Collection[str], context: Context, stubs: Mapping[str, str]
) -> list[Edit] | _Refused:
    formula = _unquoted(line.value)
    if formula is None:
        return _Refused("its quotes can't be followed")
    called = "".join(stub for name, stub in stubs.items() if name in formula.text)
    given = ["const Tensor & grad", "const variable_list & grads", "const Tensor & result", *_results(entry)]
    given += [_parameter(one) for one in entry.schema.arguments]
    text = f"{_SPACE}{called}{_HEAD}{', '.join(given)}{_BODY}"
    shift = formula.start - len(text.encode())
    source = SourceFile(Path("formula.cpp"), f"{text}{formula.text}{_TAIL}".encode())
    wanted = _signature(entry, names, given)
    start = source.content.index(_HEAD.encode())
    analysis = analyse(source, context, wanted=((start, wanted),))
    for seed, refusal in analysis.refusals:
        if seed.expected is not None:
            return _refused(analysis, refusal, names)
    edits = [edit for promotion in analysis.promotions for edit in emit(promotion, source.content)]
    inside = [edit for edit in edits if edit.start >= len(text.encode())]
    return [Edit(edit.start + shift, edit.end + shift, edit.text) for edit in sorted(set(inside))]


def _refused(analysis: Analysis, refusal: Refusal, names: Collection[str]) -> _Refused:
    tree, detail = analysis.know.model.tree, " ".join(refusal.detail.split())
    call = tree.root.descendant_for_byte_range(refusal.start, refusal.end)
    if call is None or call.type != "call_expression" or refusal.reason is not SkipReason.UNKNOWN_CALLEE:
        return _Refused(detail)
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b|\bsizes\(\)")
    positions = (at for at, value in enumerate(arguments(call)) if word.search(tree.text(value)))
    return _Refused(detail, analysis.know.types.callee(call), tuple(positions))


def _signature(entry: Entry, names: Collection[str], given: list[str]) -> Signature:
    expected: list[tuple[str, str]] = [_apart(one) for one in given[: -len(entry.schema.arguments) or None]]
    for argument in entry.schema.arguments:
        kind = argument.widened if argument.name in names and argument.widened else argument.type
        expected.append(_apart(_parameter(argument, kind)))
    return Signature("formula", tuple(expected))


def _apart(parameter: str) -> tuple[str, str]:
    kind, _, name = parameter.rpartition(" ")
    return kind, name


def _parameter(argument: DeclaredArgument, kind: str | None = None) -> str:
    plain = re.sub(r"\([^()]*\)", "", kind or argument.type)
    return _CPP.get(_LISTED.sub("[]", plain), "const Unknown & {}").format(argument.name)


def _results(entry: Entry) -> Iterator[str]:
    """``self_t``, ``self_p``: the tangents and primals that a forward formula names."""
    for argument in entry.schema.arguments:
        if argument.type.startswith("Tensor") and "[" not in argument.type:
            yield f"const Tensor & {argument.name}_t"
            yield f"const Tensor & {argument.name}_p"


def _unquoted(value: Piece) -> Piece | None:
    text = value.text
    quote = text[:1] if text[:1] in "'\"" else ""
    if not quote:
        return Piece(text.partition(" #")[0], value.start)
    if len(text) < 2 or text[-1] != quote or "\\" in text or quote in text[1:-1]:
        return None
    return Piece(text[1:-1], value.start + 1)


def follow(
    root: Path, entries: Mapping[str, Entry], widened: Mapping[str, Collection[str]], context: Context
) -> tuple[Mapping[str, Formulas], Helpers]:
    """The formulas of all operators whose schemas changed, by operator, and the functions that these call."""
    asked: dict[str, frozenset[str]] = {}
    while True:
        followed = helpers(root, asked, context)
        found = {
            name: formulas(root, entries[name], names, context, followed.stubs)
            for name, names in widened.items()
            if name in entries
        }
        more = [(callee, own) for one in found.values() for callee, own in one.asks.items() if callee not in asked]
        if not more:
            return found, followed
        for callee, own in more:
            asked[callee] = asked.get(callee, frozenset()) | own
