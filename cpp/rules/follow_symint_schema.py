"""Bring a composite kernel to the SymInt signature that its schema already has.

What: a function ``f(..., int64_t)`` where torch expects ``f_symint(..., c10::SymInt)``. The function is renamed, its
parameters take the schema's types, and the values are propagated as by use_sym_sizes. Each of several functions called
``f`` follows the overload that has its types. Its new name is ``f_symint`` or, for ``f.padding``, ``f_padding_symint``.
A kernel that already has its name takes the types of its schema.

Why: between such a schema and such a kernel, every SymInt argument is specialized to one value.

What it leaves alone: a kernel of which one parameter must stay concrete inside. Templated functions. One of several
functions of a name whose types match no overload, or whose calls can't be distinguished from those of another. A kernel
that kernel code of the file calls too. Structured kernels can't take SymInt.

Safety: safe. On plain integers the same values reach the same calls. Unsafe where a SymInt replaces an ``int``, which
truncates a size of 2**31 or more. Unsafe also in a check whose message is its condition.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.file.prefilter import trails_schema
from ..analysis.propagation.promotions import analyse
from ..rewrite.emit import fix
from ..rewrite.skip_reasons import skip

NAME = "follow_symint_schema"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """Yield one Fix for each kernel that can follow its schema, and one Skip for each that can't."""
    if not trails_schema(source, context):
        return
    analysis = analyse(source, context, signatures=True)
    for promotion in analysis.promotions:
        renamed = [(seed, seed.expected) for seed in promotion.seeds if seed.expected is not None]
        if renamed:
            names = ", ".join(dict.fromkeys(_named(seed.function.name, expected.name) for seed, expected in renamed))
            yield fix(NAME, 4, names, promotion, analysis.know.model.tree, function=renamed[0][0].function.name)
    for seed, refusal in analysis.refusals:
        if seed.expected is not None:
            yield skip(NAME, source, seed, refusal)


def _named(before: str, after: str) -> str:
    return f"{before} to {after}" if before != after else f"{before} to the types of its schema"


rule = Rule(NAME, Safety.UNSAFE, "cpp", (b"int64_t", b"IntArrayRef"), decide)
