"""Functions of FunctionsManual that formulas of derivatives call, whose parameters follow the schemas' arguments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context
from ...codemods.model.source_file import SourceFile
from ...codemods.torchapi import DispatcherSignature
from ...cpp.analysis.file.file_analysis import knowledge
from ...cpp.analysis.file.sources import Wanted
from ...cpp.analysis.operators.argument_widening import widened
from ...cpp.analysis.propagation.promotions import Analysis, analyse
from ...cpp.rewrite.emit import emit
from ...cpp.rewrite.prototypes import redeclared, stand_in
from ...cpp.syntax.declarations import Function

DEFINED = Path("torch/csrc/autograd/FunctionsManual.cpp")
DECLARED = Path("torch/csrc/autograd/FunctionsManual.h")

Asked = Mapping[str, Collection[str]]
"""Parameters that take SymInts, by the names of their functions."""


@dataclass(frozen=True)
class Helpers:
    """Edits of helpers. ``stubs`` declare the changed functions, ``refused`` has the reasons for the unchanged ones."""

    edits: Mapping[Path, tuple[Edit, ...]]
    stubs: Mapping[str, str]
    refused: Mapping[str, str]


def source(root: Path) -> SourceFile | None:
    """Return the file that defines the helpers, or None if the tree has none."""
    path = root / DEFINED
    return SourceFile(path, path.read_bytes()) if path.is_file() else None


def parameters(root: Path, name: str, context: Context) -> tuple[str, ...]:
    """Return the names of a helper's parameters, none if there is no such helper or several."""
    function = _function(root, name, context)
    return () if function is None else tuple(one.name for one in function.parameters)


def helpers(root: Path, asked: Asked, context: Context) -> Helpers:
    """Return the edits of helpers whose parameters take SymInts."""
    text = source(root)
    signatures: dict[int, tuple[str, DispatcherSignature]] = {}
    refused: dict[str, str] = {}
    for name, names in asked.items():
        function = _function(root, name, context)
        expected = None if function is None else widened(function, names)
        if function is None or expected is None:
            refused[name] = f"{name} has parameters that can't take SymInts"
        else:
            signatures[function.node.start_byte] = (name, expected)
    if text is None or not signatures:
        return Helpers({}, {}, refused)
    wanted: tuple[Wanted, ...] = tuple((start, expected) for start, (_, expected) in signatures.items())
    analysis = analyse(text, context, wanted=wanted)
    for seed, refusal in analysis.refusals:
        if seed.expected is not None:
            refused[seed.expected.name] = " ".join(refusal.detail.split())
    edits = _edits(analysis, text.content)
    followed = [signature for _, signature in signatures.values() if signature.name not in refused]
    header = (root / DECLARED).read_bytes()
    written = {edit for one in followed for edit in redeclared(header, one.name, one)}
    stubs = {one.name: stand_in(analysis.know.model, one) for one in followed}
    return Helpers({DEFINED: tuple(sorted(edits)), DECLARED: tuple(sorted(written))}, stubs, refused)


def _function(root: Path, name: str, context: Context) -> Function | None:
    text = source(root)
    found = [] if text is None else knowledge(text, context).model.named(name)
    return found[0] if len(found) == 1 else None


def _edits(analysis: Analysis, content: bytes) -> set[Edit]:
    promotions = [one for one in analysis.promotions if any(seed.expected is not None for seed in one.seeds)]
    return {edit for promotion in promotions for edit in emit(promotion, content)}
