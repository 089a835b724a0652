"""Deferred facts, which can be decided only after all promotions are known."""

from __future__ import annotations

from collections.abc import Iterator

from ...syntax.types import SYMBOLIC_TYPES, Type
from ..graph.dataflow_facts import (
    AtLast,
    Deduces,
    Divides,
    Fact,
    Matches,
    Rearranges,
    Refuses,
    Selects,
    Writes,
    wrapped,
)
from ..graph.reasons import SkipReason
from .fields import divide
from .pass_context import Pass

_SIMPLE = ("identifier", "call_expression", "subscript_expression", "parenthesized_expression")


def resolve_deferred(p: Pass, fact: AtLast) -> Iterator[Fact]:
    """Yield the edits or refusals of a deferred fact, after the types of all expressions are known."""
    if isinstance(fact, Matches):
        yield from _match(p, fact)
    elif isinstance(fact, Deduces):
        yield from _deduce(p, fact)
    elif isinstance(fact, Divides):
        yield from divide(p, fact)
    else:
        yield _select(p, fact)


def _match(p: Pass, fact: Matches) -> Iterator[Fact]:
    kind = p.kind_of(fact.node)
    if kind in SYMBOLIC_TYPES:
        return
    if kind in fact.wrapped:
        yield from wrapped(fact.cause, fact.node, "c10::SymInt(", ")")
    else:
        yield Refuses(fact.cause, fact.node, fact.reason)


def _deduce(p: Pass, fact: Deduces) -> Iterator[Fact]:
    """Yield the new type of ``auto n = 0``, which deduces int regardless of later assignments."""
    variable = fact.variable
    node, value = variable.type_node, variable.initializers[0] if variable.initializers else None
    kind = None if value is None else p.kind_of(value)
    if node is None or value is None or kind in SYMBOLIC_TYPES:
        return
    if kind in (Type.INT, Type.LONG_LONG):
        yield Writes(fact.cause, node, "c10::SymInt")
    else:
        detail = f"the value {variable.name} starts with is of an unknown type"
        yield Refuses(fact.cause, value, SkipReason.UNKNOWN_INITIALIZER, detail)


def _select(p: Pass, fact: Selects) -> Fact:
    subject, other = fact.operands
    if p.kind_of(subject) is not Type.SYM_INT:
        subject, other = other, subject
    around = (subject,) if subject.type in _SIMPLE else ("(", subject, ")")
    return Rearranges(fact.cause, fact.call, (*around, f".{fact.method}(", other, ")"))
