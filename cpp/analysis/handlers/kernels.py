"""Changes that give a kernel the signature that its schema expects: the name, the parameters, the calls."""

from __future__ import annotations

from collections.abc import Iterator

from ....codemods.torchapi import DispatcherSignature
from ...syntax.types import SYMBOLIC, read_type
from ..file.sources import Seed
from ..graph.dataflow_facts import Becomes, Fact, Refuses, Writes
from ..graph.reasons import SkipReason
from .pass_context import Pass
from .signatures import follows_schema, uses


def follow(p: Pass, seed: Seed, expected: DispatcherSignature) -> Iterator[Fact]:
    """Rename ``f`` to ``f_symint`` with its calls in the file, and promote each SymInt parameter of the schema."""
    value = seed.value
    renamed = seed.function.name != expected.name
    if renamed:
        yield Writes(value, seed.name, expected.name)
    used = uses(p, seed.function)
    for escape in used.escapes:
        yield Refuses(value, *escape)
    for mention in used.registered if renamed else ():
        yield Writes(value, mention, expected.name)
    for call in used.calls:
        if not p.know.eligibility.is_eligible(p.model.function_at(call.start_byte)):
            detail = f"{seed.function.name} is called from kernel code too"
            yield Refuses(value, call, SkipReason.SHARED_WITH_KERNEL, detail)
            continue
        callee = call.child_by_field_name("function")
        while callee is not None and callee.type == "qualified_identifier":
            callee = callee.child_by_field_name("name")
        if callee is not None and renamed:
            yield Writes(value, callee, expected.name)
    for parameter in seed.function.parameters:
        written = expected.parameters[parameter.position][0]
        kind = read_type(written)
        if SYMBOLIC.get(parameter.type) is kind and follows_schema(p, parameter):
            yield Becomes(value, parameter, kind)
        elif "SymInt" in written and parameter.type is not kind:
            detail = f"{parameter.name} would become {written}"
            yield Refuses(value, parameter.node, SkipReason.DECLARED_TYPE, detail)
