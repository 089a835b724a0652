"""Let an operator's schema take SymInts where its integers are sizes: ``int n`` → ``SymInt n``.

What: the schema in ``m.def(…)``, with the operator's composite, meta and autograd kernels, their declarations and what
their parameters flow into. An argument is a size where its value reaches a SymInt of one of torch's operators, where a
fake kernel in Python computes a shape from it, where a caller passes a size, or where another overload takes a SymInt.

Why: a symbolic size that is passed to an ``int`` is pinned to one value before any kernel is called.

What it leaves alone: arguments that nothing shows to be sizes, whatever they are called; kernels for devices, for which
the dispatcher unpacks; an operator of which one kernel for fake tensors has to stay on integers, or has none.

Safety: unsafe: an integer that is passed to the operator comes out as before, but C++ code outside of the project that
calls it by a typed handle, and models that were serialized with the schema, are not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...codemods.engine.rule import Context, Fix, Rule, Safety, Skip
from ...codemods.engine.source import SourceFile
from ..analysis.operators import OwnOperator, Unclear, own_operators, project_around
from ..analysis.reasons import SkipReason
from ..rewrite.widening import Kept, Widened, widen
from ..syntax.registering import MARKS

NAME = "widen_schema"
_DOUBT = "callers of the schema outside of this project are not seen"


def decide(source: SourceFile, context: Context) -> Iterator[Fix | Skip]:
    """One Fix for each operator of the file that has sizes among its integers."""
    if not source.project and not any(mark in source.content for mark in MARKS):
        return
    project = project_around(source)
    for operator in own_operators(source, project):
        if isinstance(operator, Unclear):
            yield Skip(NAME, 4, operator.start, operator.end, SkipReason.SCHEMA_UNCLEAR.value, operator.why)
            continue
        found = widen(operator, source, project, context)
        if isinstance(found, Kept):
            if operator.path == source.path:
                end = operator.start + len(operator.schema.text)
                yield Skip(NAME, 4, operator.start, end, found.reason.value, found.detail, operator.name)
        elif found is not None and source.path in found.edits:
            yield _fix(operator, source, found)


def _fix(operator: OwnOperator, source: SourceFile, found: Widened) -> Fix:
    """The part of a change that stands in one file."""
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
