"""Bringing a kernel to the signature that its schema expects: the name, the parameters, the calls."""

from __future__ import annotations

from ...codemods.torchapi import Kernel
from ..syntax.tree import field
from ..syntax.types import SYMBOLIC, read_type
from .flow import Entity, Flow, Seed
from .promote import promote
from .signatures import call_sites, follows_schema


def follow(p: Flow, seed: Seed, kernel: Kernel) -> None:
    """Rename ``f`` to ``f_symint`` with its calls in the file, and promote each parameter that the schema says."""
    entity: Entity = seed.entity
    p.edit(entity, seed.name, kernel.name)
    for call in call_sites(p, seed.function, entity):
        if not p.know.eligibility.is_eligible(p.model.function_at(call.start_byte)):
            p.conflict(entity, call, "shared-with-kernel", f"{seed.function.name} is called from kernel code too")
            continue
        callee = field(call, "function")
        while callee is not None and callee.type == "qualified_identifier":
            callee = field(callee, "name")
        if callee is not None:
            p.edit(entity, callee, kernel.name)
    for parameter in seed.function.parameters:
        expected = read_type(kernel.parameters[parameter.position][0])
        if SYMBOLIC.get(parameter.type) is expected and follows_schema(p, parameter):
            promote(p, parameter, expected, entity)
        elif "SymInt" in kernel.parameters[parameter.position][0] and parameter.type is not expected:
            detail = f"{parameter.name} would become {kernel.parameters[parameter.position][0]}"
            p.conflict(entity, parameter.node, "declared-type", detail)
