"""Bring a composite kernel to the SymInt signature that its schema already has.

What: where torch expects ``f_symint(..., c10::SymInt)`` and the file still defines ``f(..., int64_t)``, the function is
renamed, its parameters take the schema's types, and the values are carried on as by use_sym_sizes.

Why: between such a schema and such a kernel every SymInt is guarded to one value on the way in.

What it leaves alone: a kernel of which one parameter has to stay concrete inside; optional integers; overloaded and
templated functions; a kernel that kernel code of the file calls too. Structured kernels can't take SymInt.

Safety: safe. On plain integers the same values reach the same calls. Unsafe where a SymInt takes the place of an
``int``, which cuts off a size of 2**31 or more, or stands in a check whose message is its condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from ..codemods.engine.source import SourceFile
from ._analysis import analyse
from ._changes import changes
from ._eligible import symint_name
from ._skips import skip

NAME = "follow_symint_schema"
_DEFINED = re.compile(rb"^[A-Za-z][\w:<>&*, ]*[ &*](\w+)\(", re.MULTILINE)


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """One Fix for each kernel that can follow its schema, one Skip for each that can't."""
    if not any(_left_behind(name.decode(), context) for name in set(_DEFINED.findall(source.content))):
        return
    analysis = analyse(source, context, signatures=True)
    for promotion in analysis.promotions:
        renamed = [seed for seed in promotion.seeds if seed.kernel is not None]
        if renamed:
            names = ", ".join(f"{seed.function.name} to {seed.kernel.name}" for seed in renamed if seed.kernel)
            message = names + promotion.companions
            needs = promotion.headers
            words = changes(promotion, analysis.know.model.tree)
            safety = Safety.UNSAFE if words else Safety.SAFE
            name = renamed[0].function.name
            yield Fix(NAME, 4, safety, promotion.edits, message, function=name, default=words, needs=needs)
    for seed, conflict in analysis.refusals:
        if seed.kernel is not None:
            yield skip(NAME, source, seed, conflict)


def _left_behind(name: str, context: Context) -> bool:
    return bool(context.api.kernels(symint_name(name))) and not context.api.kernels(name)


rule = Rule(NAME, Safety.UNSAFE, "cpp", (b"int64_t", b"IntArrayRef"), decide)
