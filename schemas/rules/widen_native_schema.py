"""Report integer arguments of PyTorch's operators that are sizes: ``int n`` → ``SymInt n`` in native_functions.yaml.

What: each ``int`` of a schema that becomes a part of a shape, is passed to a size of another operator, or receives
sizes. An ``int`` that is a SymInt in another overload counts too. The place of the evidence is reported.

Why: a symbolic size that is passed to an ``int`` is specialized to one value before any kernel is called.

What it leaves alone: arguments that are also a dimension, an index or a number of elements. The rule reads all kernels
of the tree, so it examines only a native_functions.yaml that is named on the command line, with ``--torch-root``.

Safety: manual: an operator's schema can change only together with its kernels, its formulas and its overloads. The
command ``symfix widen`` writes and proves the complete change.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ...codemods.torchapi import TorchError
from ..analysis.native import FUNCTIONS, NativeTree, native_tree
from ..analysis.size_arguments import sizes
from ..syntax.entries import EntryError

NAME = "widen_native_schema"
_MODE = 4
_NOT_THIS_TREE = "the kernels say what is a size: name this file's tree with --torch-root"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """Yield one Fix for each argument that is a size, and a Skip for one that has other uses too."""
    if source.path.name != FUNCTIONS.name:
        return
    tree = _tree(source, context)
    if isinstance(tree, str):
        yield Skip(NAME, _MODE, 0, 0, "schema-unclear", tree)
        return
    for (name, argument), found in sizes(tree).items():
        entry = tree.entries[name]
        said = f"{name}: {argument} is a size: {found.reasons[0]}"
        edits = tuple(entry.widened((argument,)))
        if found.against:
            start, end = edits[0].start, edits[0].end
            yield Skip(NAME, _MODE, start, end, "not-only-a-size", f"{said}; {found.against[0]}", name)
        else:
            message = f"{said}; `symfix widen {name}` changes its kernels and formulas too"
            yield Fix(NAME, _MODE, Safety.MANUAL, edits, message, name)


def _tree(source: SourceFile, context: Context) -> NativeTree | str:
    """Return the tree of a native_functions.yaml, or the reason why it cannot be analysed."""
    root = context.torch_root
    if root is None or (root / FUNCTIONS).resolve() != source.path.resolve():
        return _NOT_THIS_TREE
    try:
        return native_tree(context.api.place, source.content)
    except (TorchError, EntryError) as error:
        return str(error)


rule = Rule(NAME, Safety.MANUAL, "YAML", (b"- func:",), decide)
