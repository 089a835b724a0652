"""C++ files of a tree whose schemas take SymInts: the kernels that follow, and the edits for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context
from ...codemods.model.source_file import SourceFile
from ...cpp.analysis.file.file_analysis import FileAnalysis
from ...cpp.analysis.file.sources import Seed
from ...cpp.analysis.graph.graph import Refusal
from ...cpp.analysis.propagation.promotions import Analysis, Promotion, analyse
from ...cpp.rewrite.emit import HEADERS, emit
from ...cpp.rewrite.prototypes import redeclared
from ..analysis.sources import defining, headers_with, mentions, texts
from .call_sites import mentioned
from .header_helpers import Inlined, called
from .yaml_edits import Renamed


@dataclass
class Followed:
    """Result for the kernels: edits by file, and the reason for each kernel that stays on integers."""

    edits: dict[Path, list[Edit]] = field(default_factory=lambda: defaultdict(list))
    needs: dict[Path, set[str]] = field(default_factory=lambda: defaultdict(set))
    kept: dict[Renamed, str] = field(default_factory=dict)


def follow(tree: Path, renamed: Collection[Renamed], context: Context) -> Followed:
    """Return the edits that give each kernel the name and types that the changed schemas expect, with its callers.

    A kernel that cannot follow is returned with the reason.
    """
    found = Followed()
    files: dict[Path, list[Renamed]] = defaultdict(list)
    for one in renamed:
        paths = [path for path in defining(tree, one.old) if _defines(tree, path, one, context)]
        if len(paths) == 1:
            files[paths[0]].append(one)
        elif paths or not one.generated:
            found.kept[one] = "several files define it" if paths else _missing(tree, one, context)
    for path, kernels in files.items():
        _in_file(tree, path, kernels, context, found)
    return found


def _source(tree: Path, path: Path) -> SourceFile:
    return SourceFile(tree / path, texts(tree)[path])


def _analysis(tree: Path, path: Path, context: Context) -> Analysis:
    return analyse(_source(tree, path), context, signatures=True)


def _missing(tree: Path, kernel: Renamed, context: Context) -> str:
    for path in defining(tree, kernel.old):
        if _analysis(tree, path, context).know.model.named(kernel.old):
            return f"no {kernel.old} of {path} has the types of its schema"
    return "no source file of the tree defines it"


def _defines(tree: Path, path: Path, kernel: Renamed, context: Context) -> bool:
    know = _analysis(tree, path, context).know
    expected = (know.eligibility.expected(function) for function in know.model.named(kernel.old))
    return any(one is not None and one.name == kernel.new for one in expected)


def _in_file(tree: Path, path: Path, kernels: list[Renamed], context: Context, found: Followed) -> None:
    wanted = {(one.old, one.new): one for one in kernels}
    analysis, inlines = _with_inlined(tree, path, wanted, context)
    done: set[tuple[str, str]] = set()
    for promotion in analysis.promotions:
        followed = {_key(seed) for seed in promotion.seeds if seed.expected is not None}
        if not followed & wanted.keys():
            continue
        outside = _elsewhere(tree, path, promotion, kernels, analysis.know, context)
        if isinstance(outside, str):
            found.kept.update({wanted[key]: outside for key in followed & wanted.keys()})
            continue
        done |= followed & wanted.keys()
        edits = emit(promotion, analysis.know.model.tree.content)
        found.edits[path] += edits
        found.needs[path] |= {header for name, header in HEADERS.items() for edit in edits if name in edit.text}
        for other, more in outside.items():
            found.edits[other] += more
    if done:
        for one in inlines:
            found.edits[one.header] += one.edits
            found.needs[one.header] |= {h for name, h in HEADERS.items() for edit in one.edits if name in edit.text}
    for key, refusal in _refused(analysis).items():
        if key in wanted and key not in done and wanted[key] not in found.kept:
            found.kept[wanted[key]] = _words(refusal.detail)
    for key, kernel in wanted.items():
        if key not in done and kernel not in found.kept:
            found.kept[kernel] = "no function of its types is there"


def _with_inlined(
    tree: Path, path: Path, wanted: Collection[tuple[str, str]], context: Context
) -> tuple[Analysis, list[Inlined]]:
    """Return the analysis of a file, and the header functions that have to take SymInts too.

    For the analysis, the stubs of these functions are appended to the file, where they shift no offset.
    """
    inlines: dict[str, Inlined] = {}
    while True:
        source = _source(tree, path)
        text = source.content + "".join(one.stub for one in inlines.values()).encode()
        analysis = analyse(SourceFile(source.path, text), context, signatures=True)
        refusals = [refusal for key, refusal in _refused(analysis).items() if key in wanted]
        found = filter(None, (called(tree, analysis, refusal, context) for refusal in refusals))
        more = {one.name: one for one in found if one.name not in inlines}
        if not more:
            return analysis, list(inlines.values())
        inlines |= more


def _refused(analysis: Analysis) -> Mapping[tuple[str, str], Refusal]:
    return {_key(seed): refusal for seed, refusal in analysis.refusals if seed.expected is not None}


def _key(seed: Seed) -> tuple[str, str]:
    assert seed.expected is not None
    return seed.function.name, seed.expected.name


def _words(detail: str) -> str:
    return " ".join(detail.split())


def _elsewhere(
    tree: Path, path: Path, promotion: Promotion, kernels: list[Renamed], know: FileAnalysis, context: Context
) -> Mapping[Path, list[Edit]] | str:
    """Return the edits of other files that name the kernels of a promotion, or the reason why these have to stay."""
    names: dict[str, list[Seed]] = defaultdict(list)
    for seed in promotion.seeds:
        if seed.expected is not None:
            names[seed.function.name].append(seed)
    edits: dict[Path, list[Edit]] = defaultdict(list)
    for mention in mentions(tree, names):
        if mention.path == path:
            continue
        written = mentioned(_source(tree, mention.path), mention, names[mention.name], kernels, know, context)
        if written is None:
            return f"{mention.path} names {mention.name} in a way that can't be followed"
        edits[mention.path] += written
    for seed in (one for same in names.values() for one in same):
        assert seed.expected is not None
        for header in headers_with(tree, seed.function.name):
            edits[header] += redeclared(texts(tree)[header], seed.function.name, seed.expected, ("at", "native"))
    return edits
