"""Functions that a header of the tree defines for its kernels, whose parameters take SymInts with the kernels'."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context
from ...codemods.model.source_file import SourceFile
from ...cpp.analysis.file.file_analysis import knowledge
from ...cpp.analysis.graph.graph import Refusal
from ...cpp.analysis.graph.reasons import SkipReason
from ...cpp.analysis.operators.argument_widening import widened
from ...cpp.analysis.propagation.promotions import Analysis, analyse
from ...cpp.rewrite.emit import emit
from ...cpp.rewrite.prototypes import stand_in
from ...cpp.syntax.declarations import Function
from ...cpp.syntax.tree import arguments
from ...cpp.syntax.types import SYMBOLIC
from ..analysis.sources import NATIVE, texts

_WITHOUT_SYMBOLS = re.compile(rb"__(?:device|global)__|\bC10_(?:HOST_)?DEVICE\b|\bconstexpr\b")
_LITERAL = re.compile(r"-?\d+|true|false|nullptr|\".*\"")


@dataclass(frozen=True)
class Inlined:
    """Function of ``header`` that takes SymInts after the change.

    ``stub`` represents it in the analysis of its caller.
    """

    name: str
    header: Path
    edits: tuple[Edit, ...]
    stub: str


def called(tree: Path, analysis: Analysis, refusal: Refusal, context: Context) -> Inlined | None:
    """Return the header function that made the analysis refuse a kernel, with SymInts, or None if it cannot take any.

    Callers with plain integers stay unchanged, since their arguments convert to SymInts.
    """
    root = analysis.know.model.tree.root
    call = root.descendant_for_byte_range(refusal.start, refusal.end)
    if refusal.reason is not SkipReason.UNKNOWN_CALLEE or call is None or call.type != "call_expression":
        return None
    name = analysis.know.types.callee(call).rpartition("::")[2]
    found = [path for path in _headers(tree, name) if _function(tree, path, name, context) is not None] if name else []
    if len(found) != 1:
        return None
    function = _function(tree, found[0], name, context)
    text = analysis.know.model.tree.text
    places = {place for place, value in enumerate(arguments(call)) if not _LITERAL.fullmatch(text(value))}
    return None if function is None else _followed(tree, found[0], function, places, context)


def _headers(tree: Path, name: str) -> list[Path]:
    word = re.compile(rb"\b%s\s*\(" % name.encode())
    return [
        path
        for path, content in texts(tree).items()
        if path.suffix == ".h" and path.is_relative_to(NATIVE) and word.search(content)
    ]


def _function(tree: Path, header: Path, name: str, context: Context) -> Function | None:
    """Return the one function of that name in a header.

    Return None for a template, and for a function that a device or the compiler runs.
    """
    named = knowledge(_source(tree, header), context).model.named(name)
    if len(named) != 1 or named[0].is_template:
        return None
    before = named[0].node.prev_sibling
    start = 0 if before is None else before.end_byte
    head = texts(tree)[header][start : named[0].body.start_byte]
    return None if _WITHOUT_SYMBOLS.search(head) else named[0]


def _source(tree: Path, header: Path) -> SourceFile:
    return SourceFile(tree / header, texts(tree)[header])


def _followed(
    tree: Path, header: Path, function: Function, places: Collection[int], context: Context
) -> Inlined | None:
    names = [one.name for one in function.parameters if one.position in places and one.type in SYMBOLIC]
    expected = widened(function, names) if names else None
    if expected is None:
        return None
    everywhere = replace(context, all_functions=True)
    analysis = analyse(_source(tree, header), everywhere, wanted=((function.node.start_byte, expected),))
    if any(seed.expected is not None for seed, _ in analysis.refusals):
        return None
    start, content = function.node.start_byte, texts(tree)[header]
    own = [one for one in analysis.promotions if {seed.function.node.start_byte for seed in one.seeds} == {start}]
    edits = {edit for promotion in own for edit in emit(promotion, content)}
    stub = f"\nnamespace {'::'.join(function.namespaces)} {{\ninline {stand_in(analysis.know.model, expected)}}}\n"
    return Inlined(function.name, header, tuple(sorted(edits)), stub)
