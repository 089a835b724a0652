"""Bring a composite kernel to the SymInt signature that its schema already has.

What: where torch expects ``f_symint(..., c10::SymInt)`` and the file still defines ``f(..., int64_t)``, the function is
renamed, its parameters take the schema's types, and the values are carried on as by use_sym_sizes. Of several functions
called ``f`` each follows the overload that has its types, as ``f_symint`` or, for ``f.padding``, ``f_padding_symint``.
A kernel that has its name already takes the types of its schema.

Why: between such a schema and such a kernel every SymInt is guarded to one value on the way in.

What it leaves alone: a kernel of which one parameter has to stay concrete inside; templated functions; one of several
functions of a name whose types no overload has, or whose calls can't be told from those of another; a kernel that
kernel code of the file calls too. Structured kernels can't take SymInt.

Safety: safe. On plain integers the same values reach the same calls. Unsafe where a SymInt takes the place of an
``int``, which cuts off a size of 2**31 or more, or stands in a check whose message is its condition.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.engine.source import SourceFile
from ..analysis.promotions import analyse
from ..analysis.relevance import trails_schema
from ..rewrite.emit import fix
from ..rewrite.skips import skip

NAME = "follow_symint_schema"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """One Fix for each kernel that can follow its schema, one Skip for each that can't."""
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
