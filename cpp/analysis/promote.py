"""Promoting what a value is stored in or handed over by: variables, parameters, results; and what must follow suit."""

from __future__ import annotations

import re

from tree_sitter import Node

from ..syntax.declarations import Function, Variable
from ..syntax.tree import arguments, every, field
from ..syntax.types import SYMBOLIC, Type, is_output_reference, symbolic_text
from .flow import Entity, Flow
from .inference import CONCRETE, TRANSPARENT
from .keeping import keep
from .saved import slot
from .signatures import call_sites, follows_schema, may_change, returned_values

SYMBOLIC_TYPES = frozenset(SYMBOLIC.values()) | {Type.SYM_BOOL}
_FIXED = frozenset({"structured-binding", "c-array"})
INTEGERS = frozenset({Type.INT, Type.UNSIGNED, Type.SYM_INT})
LISTS = frozenset({Type.SYM_REF, Type.SYM_VEC})
_UNQUALIFIED = re.compile(r"(?<![:\w])(?=(?:SymIntArrayRef|SymDimVector|OptionalSymIntArrayRef)\b)")
_LIST_METHODS = frozenset({"vec", "slice", "drop_front", "drop_back", "begin", "end", "cbegin", "cend"})


def store(p: Flow, variable: Variable, kind: Type, cause: Entity, at: Node) -> None:
    """A value of ``kind`` is put into a variable at a place: promote the variable, or say why it can't be."""
    held = p.types.type_of(variable.node) if variable.type is Type.AUTO else variable.type
    target = SYMBOLIC.get(held)
    if held in SYMBOLIC_TYPES or (held is Type.SCALAR and kind in (Type.SYM_INT, Type.SYM_FLOAT)):
        return
    if variable.type is Type.AUTO and target is None:
        target = kind
    if variable.how in _FIXED:
        p.conflict(cause, at, variable.how, f"{variable.name} can't change its type alone")
        return
    if target is None or not _fits(kind, target):
        name = variable.type_text
        p.conflict(cause, at, "declared-type", f"{variable.name} is declared {name}")
        return
    promote(p, variable, target, cause)


def _fits(kind: Type, target: Type) -> bool:
    return (
        kind is target
        or (kind, target) in ((Type.SYM_VEC, Type.SYM_REF), (Type.SYM_INT, Type.SYM_FLOAT))
        or (kind is Type.SYM_REF and target is Type.SYM_VEC)
        or (kind is Type.SYM_INT and target is Type.OPTIONAL_SYM_INT)
    )


def promote(p: Flow, variable: Variable, kind: Type, cause: Entity) -> None:
    """Give a variable its symbolic type, and carry on from each of its uses."""
    entity: Entity = ("variable", variable.node.id)
    known = p.variables.get(variable.node.id)
    p.link(cause, entity, variable.name)
    if known is not None:
        return
    p.variables[variable.node.id] = (variable, kind)
    function = variable.function
    hidden = p.model.tree.hidden_use(variable.name, variable.scope)
    if hidden is not None:
        p.conflict(
            entity, variable.node, hidden, f"{variable.name} is named where the code can't be read with certainty"
        )
        return
    if re.search(r"\b(?:static|thread_local|constexpr)\b", variable.type_text):
        p.conflict(entity, variable.node, "static-storage", f"{variable.name} outlives the call that sets it")
        return
    if re.search(r"\bvolatile\b", variable.type_text) or _jumped_over(p, variable):
        p.conflict(entity, variable.node, "declared-type", f"{variable.name} can only be of a plain type")
        return
    if variable.how in _FIXED:
        p.conflict(entity, variable.node, variable.how, f"{variable.name} can't change its type alone")
        return
    if variable.how == "parameter":
        _parameter(p, variable, kind, entity)
    if variable.type is not Type.AUTO:
        retype(p, variable, entity)
        for sibling in p.model.variables(function):
            if sibling.declaration.id == variable.declaration.id and sibling is not variable:
                p.soon(lambda other=sibling: promote(p, other, kind, entity))  # type: ignore[misc]
    deduced = variable.type is Type.AUTO and variable.how == "range"
    if variable.how != "parameter" and (deduced or is_output_reference(variable.type_text)):
        for value in variable.initializers:
            p.soon(lambda node=value: _shared(p, node, entity))  # type: ignore[misc]
    if variable.how in ("local", "capture"):
        _initialized(p, variable, kind, entity)
    for reference in p.model.references(variable):
        p.soon(lambda use=reference: p.flow(use, kind, entity))  # type: ignore[misc]


def _jumped_over(p: Flow, variable: Variable) -> bool:
    """Whether a jump may go past a declaration without an initializer: not past that of an object."""
    if variable.how != "local" or variable.initializers:
        return False
    around = variable.declaration.parent
    in_case = around is not None and around.type == "case_statement"
    return in_case or bool(every(variable.function.body, "goto_statement"))


def spelled(p: Flow, node: Node, kind: Type) -> str | None:
    """The symbolic twin of a type, by a name that is known where the type stands."""
    text = symbolic_text(p.model.tree.text(node), kind)
    owner = p.model.function_at(node.start_byte)
    inside = owner is not None and owner.namespaces[:1] and owner.namespaces[0].split("::")[0] in ("at", "c10", "torch")
    return text if text is None or inside else _UNQUALIFIED.sub("c10::", text)


def _shared(p: Flow, value: Node, entity: Entity) -> None:
    """What a deduced reference or range variable names belongs to a container, which must be symbolic too."""
    container = value
    if value.type == "subscript_expression":
        container = field(value, "argument") or value
    method = p.types.receiver(value) if value.type == "call_expression" else None
    if method is not None and method[1] in ("front", "back", "at"):
        container = method[0]
    if p.types.type_of(container) in (Type.INT_REF, Type.INT_VEC):
        demand(p, container, entity)


def retype(p: Flow, variable: Variable, entity: Entity) -> None:
    """Write the symbolic twin of a variable's declared type."""
    node = variable.type_node
    text = None if node is None else spelled(p, node, variable.type)
    if node is None or text is None:
        p.conflict(entity, variable.node, "declared-type", f"{variable.type_text} has no symbolic twin")
    else:
        p.edit(entity, node, text)


def _initialized(p: Flow, variable: Variable, kind: Type, entity: Entity) -> None:
    if kind in (Type.SYM_INT, Type.SYM_FLOAT):
        if variable.type is Type.AUTO:
            p.finally_(lambda: _spell_auto(p, variable, entity))
        return
    counted = bool(variable.initializers) and variable.initializers[-1].type == "number_literal"
    for value in variable.initializers:
        if p.kind_of(value) in (Type.INT_REF, Type.INT_VEC, Type.INT_ITER) or value.type == "initializer_list":
            p.soon(lambda node=value: demand(p, node, entity))  # type: ignore[misc]
        elif p.kind_of(value) is Type.UNKNOWN and not (counted and len(variable.initializers) == 2):
            p.conflict(
                entity, value, "unknown-initializer", f"the value {variable.name} starts with is of an unknown type"
            )


def _spell_auto(p: Flow, variable: Variable, entity: Entity) -> None:
    """``auto n = 0`` deduces int, whatever is assigned later."""
    node, value = variable.type_node, variable.initializers[0] if variable.initializers else None
    if node is None or value is None or p.kind_of(value) in SYMBOLIC_TYPES:
        return
    if p.kind_of(value) in (Type.INT, Type.LONG_LONG):
        p.edit(entity, node, "c10::SymInt")
    else:
        p.conflict(entity, value, "unknown-initializer", f"the value {variable.name} starts with is of an unknown type")


def _parameter(p: Flow, variable: Variable, kind: Type, entity: Entity) -> None:
    function = variable.function
    refusal = None if follows_schema(p, variable) else may_change(p, function)
    if refusal is not None:
        p.conflict(entity, variable.node, *refusal)
        return
    for call in call_sites(p, function, entity):
        passed = arguments(call)
        if variable.position >= len(passed):
            continue
        value = passed[variable.position]
        eligible = p.know.eligibility.is_eligible(p.model.function_at(call.start_byte))
        if is_output_reference(variable.type_text) or kind is not Type.SYM_INT:
            if not eligible:
                p.conflict(entity, call, "shared-with-kernel", f"{function.name} is called from kernel code too")
            elif is_output_reference(variable.type_text) and kind in (Type.SYM_INT, Type.SYM_FLOAT):
                target = p.model.resolve(value) if value.type == "identifier" else None
                if target is None:
                    p.conflict(entity, value, "output-reference", "the argument is written through and is no variable")
                else:
                    p.soon(lambda one=target, place=value: store(p, one, kind, entity, place))  # type: ignore[misc]
            else:
                p.soon(lambda node=value: demand(p, node, entity))  # type: ignore[misc]


def promote_result(p: Flow, function: Function, kind: Type, cause: Entity, at: Node) -> None:
    """A function returns a value of ``kind``: change its return type and carry on from its calls."""
    if function.returns in SYMBOLIC_TYPES or (function.returns is Type.SCALAR and kind is not Type.SYM_REF):
        return
    target = SYMBOLIC.get(function.returns, kind if function.returns is Type.AUTO else None)
    if target is None or not _fits(kind, target):
        name = "" if function.returns_node is None else p.model.tree.text(function.returns_node)
        p.conflict(cause, at, "return-type", f"{function.name or 'the lambda'} returns {name}")
        return
    entity: Entity = ("result", function.node.id)
    known = entity in p.results
    p.link(cause, entity, f"{function.name}()" if function.name else None)
    if known:
        return
    p.results.add(entity)
    refusal = may_change(p, function)
    if refusal is not None:
        p.conflict(entity, at, *refusal)
        return
    if function.returns is not Type.AUTO and function.returns_node is not None:
        text = spelled(p, function.returns_node, function.returns)
        if text is None:
            p.conflict(entity, at, "return-type", f"the return type of {function.name} has no symbolic twin")
        else:
            p.edit(entity, function.returns_node, text)
    for value in returned_values(p, function):
        if target in LISTS:
            p.soon(lambda node=value: demand(p, node, entity))  # type: ignore[misc]
        elif function.returns is Type.AUTO:
            p.finally_(lambda node=value: _agree(p, node, entity))  # type: ignore[misc]
    for call in call_sites(p, function, entity):
        if not p.know.eligibility.is_eligible(p.model.function_at(call.start_byte)):
            p.conflict(entity, call, "shared-with-kernel", f"{function.name} is called from kernel code too")
        else:
            p.soon(lambda node=call: p.flow(node, target, entity))  # type: ignore[misc]


def _agree(p: Flow, node: Node, entity: Entity) -> None:
    if p.kind_of(node) in INTEGERS - {Type.SYM_INT}:
        p.wrap(entity, node, "c10::SymInt(", ")")
    elif p.kind_of(node) not in SYMBOLIC_TYPES:
        p.conflict(entity, node, "return-type", "the other results are of an unknown type")


def demand(p: Flow, node: Node, cause: Entity, *, convert: bool = False) -> None:
    """An array must become symbolic because it meets one that is: promote where it comes from.

    With ``convert``, an array that has to stay concrete (a kernel's parameter) is converted in place, which is exact.
    """
    tree = p.model.tree
    if node.id in p.promoted:
        p.flow(node, p.promoted[node.id], cause)
        return
    kind = p.types.type_of(node)
    if kind in SYMBOLIC_TYPES or kind in INTEGERS or node.type == "initializer_list":
        return
    if node.type in ("identifier", "type_identifier"):
        variable = p.model.resolve(node)
        if variable is not None and kind in SYMBOLIC:
            fixed = variable.how == "parameter" and may_change(p, variable.function) is not None
            if not (fixed and convert and not follows_schema(p, variable)):
                promote(p, variable, SYMBOLIC[kind], cause)
                return
    elif node.type == "parenthesized_expression" and node.named_children:
        demand(p, node.named_children[0], cause, convert=convert)
        return
    elif node.type == "conditional_expression":
        for branch in (field(node, "consequence"), field(node, "alternative")):
            if branch is not None:
                demand(p, branch, cause)
        return
    elif node.type == "binary_expression" and kind is Type.INT_ITER:
        container = iterated(p, node)
        if container is not None:
            demand(p, container, cause)
            return
    elif node.type == "compound_literal_expression" and kind in SYMBOLIC:
        construct(p, node, field(node, "type"), kind, cause)
        return
    elif node.type == "call_expression" and _demand_call(p, node, kind, cause):
        return
    if convert and kind in (Type.INT_REF, Type.INT_VEC):
        p.wrap(cause, node, "c10::fromIntArrayRefSlow(", ")")
        return
    p.conflict(cause, node, "concrete-operand", f"{tree.text(node)} stays concrete")


def _demand_call(p: Flow, node: Node, kind: Type, cause: Entity) -> bool:
    seed = p.live_seed(node)
    if seed is not None:
        p.link(cause, seed.entity)
        return True
    method = p.types.receiver(node)
    if method is not None:
        if method[1] in _LIST_METHODS and p.types.type_of(method[0]) in (Type.INT_REF, Type.INT_VEC):
            demand(p, method[0], cause)
            return True
        return False
    name = p.types.callee(node)
    if name in TRANSPARENT and arguments(node):
        demand(p, arguments(node)[0], cause)
        return True
    own = p.types.own_functions(node)
    if len(own) == 1 and kind in SYMBOLIC:
        promote_result(p, own[0], SYMBOLIC[kind], cause, node)
        return True
    if not own and kind in (Type.INT_REF, Type.INT_VEC) and name not in CONCRETE:
        function = field(node, "function")
        if function is not None and symbolic_text(p.model.tree.text(function), kind) is not None:
            construct(p, node, function, kind, cause)
            for value in arguments(node):
                if p.kind_of(value) in (Type.INT_REF, Type.INT_VEC, Type.INT_ITER):
                    demand(p, value, cause)
            return True
    return False


def construct(p: Flow, node: Node, type_node: Node | None, kind: Type, cause: Entity) -> None:
    """An explicit construction of a container or array: write its symbolic twin and carry the result on."""
    text = None if type_node is None else spelled(p, type_node, kind)
    if type_node is None or text is None:
        p.conflict(cause, node, "declared-type", "the constructed type has no symbolic twin")
        return
    entity: Entity = ("call", node.id)
    p.link(cause, entity)
    p.edit(entity, type_node, text)
    p.flow(node, SYMBOLIC[kind], entity)


def put(p: Flow, target: Node, kind: Type, cause: Entity) -> None:
    """A symbolic value is assigned to an lvalue."""
    held = p.types.type_of(target)
    if held in SYMBOLIC_TYPES or (held is Type.SCALAR and kind in (Type.SYM_INT, Type.SYM_FLOAT)):
        return
    if target.type == "identifier":
        variable = p.model.resolve(target)
        if variable is not None:
            store(p, variable, kind, cause, target)
            return
    key = slot(p.model, target)
    if key is not None:
        keep(p, target, key, kind, cause)
        return
    base = field(target, "argument") if target.type == "subscript_expression" else None
    if base is not None and p.types.type_of(base) is Type.INT_ITER:
        base = iterated(p, base)
    if target.type == "call_expression":
        method = p.types.receiver(target)
        base = method[0] if method is not None and method[1] in ("front", "back", "at") else None
    if (
        base is not None
        and kind is Type.SYM_INT
        and Type.SYM_VEC in (p.kind_of(base), SYMBOLIC.get(p.types.type_of(base)))
    ):
        demand(p, base, cause)
        return
    p.conflict(cause, target, "unknown-target", f"the value is stored in {p.model.tree.text(target)}")


def iterated(p: Flow, node: Node) -> Node | None:
    """The container that an iterator expression such as ``v.begin() + n`` walks over."""
    if node.type == "binary_expression":
        sides = (field(node, "left"), field(node, "right"))
        node = next((side for side in sides if side is not None and p.types.type_of(side) is Type.INT_ITER), node)
    method = p.types.receiver(node) if node.type == "call_expression" else None
    return None if method is None else method[0]
