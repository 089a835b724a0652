"""What a seed that has to stay tells its reader."""

from __future__ import annotations

from ..codemods.engine.rule import Skip
from ..codemods.engine.source import SourceFile
from ._flow import Conflict, Seed

_LATER = frozenset(
    {"loop-bound", "data-pointer", "parallel-for", "dispatch-macro", "no-symint-schema", "decides-arity"}
)
_SHOWN = 60


def skip(rule: str, source: SourceFile, seed: Seed, conflict: Conflict) -> Skip:
    """A Skip at the seed, with the reason and the text of the place that keeps its value concrete."""
    mode = (
        3 if conflict.reason == "tensor-iterator" else 4 if conflict.reason in _LATER or seed.kernel is not None else 1
    )
    sink = source.content[conflict.node.start_byte : conflict.node.end_byte].decode().split("\n")[0].strip()
    shown = sink if len(sink) <= _SHOWN else sink[: _SHOWN - 3] + "..."
    detail = f"{conflict.detail}: {shown}"
    start, end = seed.call.start_byte, seed.call.end_byte
    return Skip(rule, mode, start, end, conflict.reason, detail, function=seed.function.name)
