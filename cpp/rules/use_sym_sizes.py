"""Request symbolic sizes from Tensors, and propagate them through everything they flow into.

What: ``numel()``, ``size(d)``, ``sizes()``, ``stride(d)``, ``strides()``, ``storage_offset()`` and ``nbytes()`` become
their ``sym_`` versions. The variables, containers, struct members, parameters, results and operator calls (``view`` to
``view_symint``) that the values reach change with them. In a branch for one device, and in a helper that only kernels
call, a value is turned back into integers.

Why: on a fake tensor with symbolic sizes, the concrete calls throw, or silently specialize the size to one value.

What it leaves alone: kernels, and code on data pointers, iterators or one device. A value that ends in a loop bound, an
index, a container's length, the number of outputs, or an operator without a SymInt schema. A value that ends in
anything that is not known to take a SymInt. Each of these is reported with the place that keeps the value concrete.
Code on iterators, pointers or one device in a function that sees symbolic sizes is reported too, whether it reads sizes
or not.

Safety: safe. A SymInt that holds a plain integer computes what the integer computed. Unsafe where it replaces an
``int``, which truncates a size of 2**31 or more. Unsafe also in a check whose message is its condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.file.methods import CONCRETE
from ..analysis.file.prefilter import worth_reading
from ..analysis.graph.reasons import SkipReason
from ..analysis.propagation.promotions import analyse
from ..rewrite.emit import fix
from ..rewrite.skip_reasons import skip
from ..syntax.model import Model

NAME = "use_sym_sizes"
_ON_REAL_DATA = "code that only runs on real data, in a function that sees symbolic sizes"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """Yield one Fix for each promotion, and one Skip for each concrete call that must stay concrete."""
    if not worth_reading(source, context):
        return
    analysis = analyse(source, context)
    for promotion in analysis.promotions:
        calls = dict.fromkeys(f"{seed.method}() to {CONCRETE[seed.method][0]}()" for seed in promotion.seeds)
        yield fix(NAME, 1, ", ".join(calls), promotion, analysis.know.model.tree)
    for seed, refusal in analysis.refusals:
        yield skip(NAME, source, seed, refusal)
    for start, end, why in analysis.know.eligibility.unread:
        yield Skip(NAME, 1, start, end, SkipReason.REGISTRATION_UNREAD.value, why)
    for function, reason in analysis.know.eligibility.unfollowed.values():
        if _CALL.search(source.content, function.body.start_byte, function.body.end_byte):
            start, end = function.node.start_byte, function.body.start_byte
            yield Skip(NAME, 1, start, end, reason.value, reason.sentence, function.name)
    if analysis.know.model.tree.tags:
        yield from _unread(source, analysis.know.model)
    for function, part in analysis.kernel_code:
        iterates = part.reason is SkipReason.TENSOR_ITERATOR
        detail = part.reason.sentence if iterates else _ON_REAL_DATA
        yield Skip(NAME, part.mode, part.start, part.end, part.reason.value, detail, function=function.name)


def _unread(source: SourceFile, model: Model) -> Iterator[Skip]:
    """Yield a Skip for the first concrete call of a template outside of every function that could be read."""
    for call in _CALL.finditer(source.content):
        if model.function_at(call.start()) is None:
            reason = SkipReason.TEMPLATE_UNREAD
            yield Skip(NAME, 1, call.start(), call.end(), reason.value, reason.sentence)
            return


_CALL = re.compile(rb"(?:\.|->)(?:" + "|".join(CONCRETE).encode() + rb")\(")
_MARKERS = (
    *(f"{name}(".encode() for name in CONCRETE),
    b"TensorIterator",
    b"data_ptr",
    b"parallel_for",
    b"AT_DISPATCH",
)

rule = Rule(NAME, Safety.UNSAFE, "cpp", _MARKERS, decide)
