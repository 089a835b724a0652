"""Results of the file's functions: return types, returned values and calls."""

from __future__ import annotations

from collections.abc import Iterator

from ...syntax.types import INTEGERS, LISTS, SYMBOLIC, SYMBOLIC_TYPES, Type, fits
from ..file.symbolic_types import twin_of
from ..graph.dataflow_facts import Fact, Flows, Gives, Later, Matches, Refuses, Requires, Returns, Writes
from ..graph.graph import Form, Value
from ..graph.reasons import SkipReason
from .pass_context import Pass
from .signatures import may_change, returned_values, takes_results, uses


def give_back(p: Pass, returned: Returns) -> Iterator[Fact]:
    """Yield the facts for a returned symbolic value: the function's result becomes symbolic, or that is refused."""
    function, kind = returned.function, returned.kind
    if function.returns in SYMBOLIC_TYPES or (function.returns is Type.SCALAR and kind is not Type.SYM_REF):
        return
    target = SYMBOLIC.get(function.returns, kind if function.returns is Type.AUTO else None)
    if target is None or not fits(kind, target):
        name = "" if function.returns_node is None else p.model.tree.text(function.returns_node)
        detail = f"{function.name or 'the lambda'} returns {name}"
        yield Refuses(returned.cause, returned.node, SkipReason.RETURN_TYPE, detail)
        return
    yield Gives(returned.cause, function, target, returned.node)


def give(p: Pass, fact: Gives) -> Iterator[Fact]:
    """Change a function's return type, and continue with its returned values and its calls."""
    function, kind = fact.function, fact.kind
    value = Value(Form.RESULT, function.node.id)
    refusal = may_change(p, function, result=True)
    if refusal is not None and p.know.eligibility.given(function) is not kind:
        yield Refuses(value, fact.node, *refusal)
        return
    if function.returns is not Type.AUTO and function.returns_node is not None:
        text = twin_of(p.model, function.returns_node, function.returns)
        if text is None:
            detail = f"the return type of {function.name} has no symbolic twin"
            yield Refuses(value, fact.node, SkipReason.RETURN_TYPE, detail)
        else:
            yield Writes(value, function.returns_node, text)
    for node in returned_values(function):
        if kind in LISTS:
            yield Later(Requires(value, node))
        elif function.returns is Type.AUTO:
            yield Matches(value, node, INTEGERS, SkipReason.RETURN_TYPE)
    used = uses(p, function)
    for escape in used.escapes:
        yield Refuses(value, *escape)
    for call in used.calls:
        if not takes_results(p, call):
            detail = f"{function.name} is called by a kernel too"
            yield Refuses(value, call, SkipReason.SHARED_WITH_KERNEL, detail)
        else:
            yield Later(Flows(value, call, kind))
