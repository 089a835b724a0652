"""Skips for calls that must stay concrete."""

from __future__ import annotations

from ...codemods.model.rule import Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.file.sources import Seed
from ..analysis.graph.graph import Refusal
from ..analysis.graph.reasons import SkipReason

_LATER = frozenset(
    {
        SkipReason.LOOP_BOUND,
        SkipReason.DATA_POINTER,
        SkipReason.PARALLEL_FOR,
        SkipReason.DISPATCH_MACRO,
        SkipReason.NO_SYMINT_SCHEMA,
        SkipReason.DECIDES_ARITY,
    }
)
_SHOWN = 60


def skip(rule: str, source: SourceFile, seed: Seed, refusal: Refusal) -> Skip:
    """Build the Skip for a seed that must stay concrete, with the reason and the text of the place that requires it."""
    iterates = refusal.reason is SkipReason.TENSOR_ITERATOR
    mode = 3 if iterates else 4 if refusal.reason in _LATER or seed.expected is not None else 1
    sink = source.content[refusal.start : refusal.end].decode().split("\n")[0].strip()
    shown = sink if len(sink) <= _SHOWN else sink[: _SHOWN - 3] + "..."
    detail = f"{refusal.detail}: {shown}"
    start, end = seed.call.start_byte, seed.call.end_byte
    return Skip(rule, mode, start, end, refusal.reason.value, detail, function=seed.function.name)
