"""Edits of derivatives.yaml: the signature that repeats a schema, and the formulas that name its arguments.

A formula is read as the body of the function that torchgen generates from it, with the same distances between bytes as
in the yaml.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context
from ...codemods.model.source_file import SourceFile
from ...cpp.analysis.graph.graph import Refusal
from ...cpp.analysis.graph.reasons import SkipReason
from ...cpp.analysis.propagation.promotions import Analysis, analyse
from ...cpp.rewrite.emit import emit
from ...cpp.syntax.tree import arguments
from ..analysis.formula_functions import END, SPACE, around, lines, parameters, signature, unquoted
from ..syntax.entries import Entry, Line
from . import manual_formulas
from .manual_formulas import Helpers, helpers

_NAME = "formula"


@dataclass(frozen=True)
class Formulas:
    """Edits of one entry, or the reasons why its formulas take plain integers only."""

    edits: tuple[Edit, ...]
    refused: tuple[str, ...]
    asks: Mapping[str, frozenset[str]]
    """Parameters that would have to take SymInts, by name of the function that a formula calls."""


def formulas(root: Path, entry: Entry, names: Collection[str], context: Context, stubs: Mapping[str, str]) -> Formulas:
    """Return the edits of an entry of derivatives.yaml if the arguments ``names`` take SymInts.

    ``stubs`` define the functions of FunctionsManual that take SymInts after the change.
    """
    edits = list(entry.widened(names))
    refused: list[str] = []
    asks: dict[str, frozenset[str]] = {}
    for line in lines(entry):
        written = _written(entry, line, names, context, stubs)
        if isinstance(written, _Refused):
            refused.append(f"the formula of {line.key.text}: {written.detail}")
            callee, positions = written.callee, written.positions
            own = manual_formulas.parameters(root, callee, context) if callee else ()
            if own and callee not in stubs:
                asks[callee] = asks.get(callee, frozenset()) | {own[at] for at in positions if at < len(own)}
        else:
            edits += written
    return Formulas(tuple(edits), tuple(refused), asks)


@dataclass(frozen=True)
class _Refused:
    """Reason why a formula stays unchanged.

    ``callee`` is a function that takes plain integers, ``positions`` are its arguments that would be symbolic.
    """

    detail: str
    callee: str = ""
    positions: tuple[int, ...] = ()


def _written(
    entry: Entry, line: Line, names: Collection[str], context: Context, stubs: Mapping[str, str]
) -> list[Edit] | _Refused:
    formula = unquoted(line.value)
    if formula is None:
        return _Refused("its quotes can't be followed")
    called = "".join(stub for name, stub in stubs.items() if name in formula.text)
    before, behind = around(_NAME, parameters(entry))
    head = f"{SPACE}{called}"
    source = SourceFile(Path("formula.cpp"), f"{head}{before}{formula.text}{behind}{END}".encode())
    inside = len(f"{head}{before}".encode())
    analysis = analyse(source, context, wanted=((len(head.encode()), signature(entry, names, _NAME)),))
    for seed, refusal in analysis.refusals:
        if seed.expected is not None:
            return _refused(analysis, refusal, names)
    edits = [edit for promotion in analysis.promotions for edit in emit(promotion, source.content)]
    shift = formula.start - inside
    return [
        Edit(edit.start + shift, edit.end + shift, edit.text) for edit in sorted(set(edits)) if edit.start >= inside
    ]


def _refused(analysis: Analysis, refusal: Refusal, names: Collection[str]) -> _Refused:
    tree, detail = analysis.know.model.tree, " ".join(refusal.detail.split())
    call = tree.root.descendant_for_byte_range(refusal.start, refusal.end)
    if call is None or call.type != "call_expression" or refusal.reason is not SkipReason.UNKNOWN_CALLEE:
        return _Refused(detail)
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, names))})\b|\bsizes\(\)")
    positions = (at for at, value in enumerate(arguments(call)) if word.search(tree.text(value)))
    return _Refused(detail, analysis.know.types.callee(call), tuple(positions))


def follow(
    root: Path, entries: Mapping[str, Entry], widened: Mapping[str, Collection[str]], context: Context
) -> tuple[Mapping[str, Formulas], Helpers]:
    """Return the formulas of all operators whose schemas changed, by operator, and the functions that these call."""
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
