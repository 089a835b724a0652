"""Let an operator's schema take SymInts where its integers are sizes: ``int n`` → ``SymInt n``.

What: the schema in ``m.def(…)``, with the operator's composite, meta and autograd kernels and their declarations. The
values that their parameters flow into change too. An argument is a size if its value reaches a SymInt of one of torch's
operators. It is also a size if a fake kernel in Python computes a shape from it. The same holds if a caller passes a
size, or if another overload takes a SymInt.

Why: a symbolic size that is passed to an ``int`` is specialized to one value before any kernel is called.

What it leaves alone: arguments without evidence that they are sizes. Names are no evidence. Kernels for devices, for
which the dispatcher unpacks. An operator of which one kernel for fake tensors must stay on integers, or which has no
such kernel.

Safety: unsafe: an integer argument gives the same result as before. But C++ code outside of the project that calls the
operator by a typed handle is not seen. Nor are models that were serialized with the schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...codemods.model.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.model.source_file import SourceFile
from ..analysis.graph.reasons import SkipReason
from ..analysis.operators.operators import OwnOperator, Unclear, own_operators, project_around
from ..rewrite.schema_widening import Widened, WidenedSchema, widen
from ..syntax.library_blocks import MARKS

NAME = "widen_schema"
_DOUBT = "callers of the schema outside of this project are not seen"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """Yield one Fix for each operator of the file that has sizes among its integers."""
    if not source.project and not any(mark in source.content for mark in MARKS):
        return
    project = project_around(source)
    for operator in own_operators(source, project):
        if isinstance(operator, Unclear):
            yield Skip(NAME, 4, operator.start, operator.end, SkipReason.SCHEMA_UNCLEAR.value, operator.why)
            continue
        found = widen(operator, source, project, context)
        if isinstance(found, WidenedSchema):
            if operator.path == source.path:
                end = operator.start + len(operator.schema.text)
                yield Skip(NAME, 4, operator.start, end, found.reason.value, found.detail, operator.name)
        elif found is not None and source.path in found.edits:
            yield _fix(operator, source, found)


def _fix(operator: OwnOperator, source: SourceFile, found: Widened) -> Fix:
    """Return the part of a change that is in one file."""
    files = tuple(sorted(str(path) for path in found.edits)) if len(found.edits) > 1 else ()
    fix = Fix(
        NAME,
        4,
        Safety.UNSAFE,
        found.edits[source.path],
        f"{operator.name}: {'; '.join(found.reasons)}",
        operator.name,
        "; ".join(filter(None, (_DOUBT, found.doubts))),
        found.needs.get(source.path, ()),
        files=files,
    )
    beside = fix.beside(source.path)
    return replace(fix, message=f"{fix.message}; with {', '.join(beside)}") if beside else fix


rule = Rule(NAME, Safety.UNSAFE, "cpp", (b"Tensor",), decide)
