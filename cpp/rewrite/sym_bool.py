"""Comparisons as method calls: ``a == b`` to ``a.sym_eq(b)``."""

from __future__ import annotations

from ...codemods.model.edit import Edit
from ..analysis.file.comparisons import METHODS, SizeComparison
from ..analysis.file.inference import Inference
from ..analysis.handlers.conditions import SIMPLE


def as_method(types: Inference, found: SizeComparison, around: tuple[str, str] = ("", "")) -> tuple[Edit, ...]:
    """Return the edits that turn ``a == b`` into ``a.sym_eq(b)``, with a text before and one behind."""
    text = types.model.tree.text
    opening, closing = ("", "") if found.subject.type in SIMPLE else ("(", ")")
    called = f"{closing}.{METHODS[found.sign]}("
    if found.subject.start_byte > found.other.start_byte:
        whole = f"{around[0]}{opening}{text(found.subject)}{called}{text(found.other)}){around[1]}"
        return (Edit(found.node.start_byte, found.node.end_byte, whole.encode()),)
    edits = (
        Edit(found.node.start_byte, found.node.start_byte, f"{around[0]}{opening}".encode()),
        Edit(found.subject.end_byte, found.other.start_byte, called.encode()),
        Edit(found.node.end_byte, found.node.end_byte, f"){around[1]}".encode()),
    )
    return edits if around[0] or opening else edits[1:]
