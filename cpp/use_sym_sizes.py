"""Ask Tensors for symbolic sizes, and carry the answers through everything they flow into.

What: ``numel()``, ``size(d)``, ``sizes()``, ``stride(d)``, ``strides()`` and ``storage_offset()`` become their ``sym_``
twins, and with them the variables, containers, parameters, results and operator calls (``view`` to ``view_symint``)
that the values reach.

Why: on a fake tensor with symbolic sizes the concrete calls throw, or pin the size to one value without a word.

What it leaves alone: kernels; code on data pointers, iterators or one device; a value that ends in a loop bound, an
index, a container's length, the number of outputs, an operator without a SymInt schema, or anything that is not known
to take a SymInt. Each of these is reported with the place that keeps the value concrete; so is code on iterators,
pointers or one device that stands in a function which sees symbolic sizes, whether it asks for sizes or not.

Safety: safe. A SymInt that holds a plain integer computes what the integer computed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..codemods.rule import Context, Fix, Rule, Safety, Skip
from ..codemods.source import SourceFile
from ._analysis import analyse
from ._flow import Conflict, Promotion, Seed
from ._infer import CONCRETE
from ._types import HEADERS

NAME = "use_sym_sizes"
_MODES = {"tensor-iterator": 3}
_SHOWN = 60
_LATER = frozenset(
    {"loop-bound", "data-pointer", "parallel-for", "dispatch-macro", "no-symint-schema", "decides-arity"}
)


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """One Fix for each promotion, one Skip for each concrete call that has to stay."""
    analysis = analyse(source, context)
    for promotion in analysis.promotions:
        yield _fix(promotion)
    for seed, conflict in analysis.refusals:
        yield _skip(source, seed, conflict)
    for function, part in analysis.kernel_code:
        detail = "code that only runs on real data, in a function that sees symbolic sizes"
        yield Skip(NAME, part.mode, part.start, part.end, part.reason, detail, function=function.name)


def _fix(promotion: Promotion) -> Fix:
    calls = ", ".join(dict.fromkeys(f"{seed.method}() to {CONCRETE[seed.method][0]}()" for seed in promotion.seeds))
    through = f", with {', '.join(promotion.through)}" if promotion.through else ""
    needs = tuple(sorted({HEADERS[edit.text] for edit in promotion.edits if edit.text in HEADERS}))
    name = promotion.seeds[0].function.name
    return Fix(NAME, 1, Safety.SAFE, promotion.edits, calls + through, function=name, needs=needs)


def _skip(source: SourceFile, seed: Seed, conflict: Conflict) -> Skip:
    mode = _MODES.get(conflict.reason, 4 if conflict.reason in _LATER else 1)
    sink = source.content[conflict.node.start_byte : conflict.node.end_byte].decode().split("\n")[0].strip()
    shown = sink if len(sink) <= _SHOWN else sink[: _SHOWN - 3] + "..."
    detail = f"{conflict.detail}: {shown}"
    return Skip(
        NAME, mode, seed.call.start_byte, seed.call.end_byte, conflict.reason, detail, function=seed.function.name
    )


_MARKERS = (
    *(f"{name}(".encode() for name in CONCRETE),
    b"TensorIterator",
    b"data_ptr",
    b"parallel_for",
    b"AT_DISPATCH",
)

rule = Rule(NAME, Safety.SAFE, "cpp", _MARKERS, decide)
