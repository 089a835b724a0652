"""Signatures of the file's own functions: permission to change them, their callers and their returned values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from ...syntax.declarations import Function, Variable
from ...syntax.tree import is_deep
from ...syntax.types import SYMBOLIC, Type, read_type
from ..file.overloads import required
from ..file.registrations import autograd_class
from ..graph.reasons import SkipReason
from .pass_context import Pass

HEADERS = frozenset({".h", ".hpp", ".cuh", ".hh"})


def may_change(p: Pass, function: Function, *, result: bool = False) -> tuple[SkipReason, str] | None:
    """Return None if the file may change the signature, or only its ``result``, else the reason and a sentence."""
    if function.is_lambda:
        return None
    if p.know.eligibility.is_registered(function):
        sentence = f"the dispatcher calls {function.name}: its signature follows the schema"
        return SkipReason.KERNEL_SIGNATURE, sentence
    applied = function.name == "forward" and autograd_class(function, p.model) is not None
    if applied and p.know.path.suffix not in HEADERS and not p.model.tree.tags and not is_deep(function.node):
        return None
    if function.in_class:
        return SkipReason.METHOD_SIGNATURE, f"{function.name} belongs to a class"
    if p.model.tree.tags:
        return SkipReason.TEMPLATE_TAG, f"a tag of this template may call {function.name}"
    if is_deep(function.node):
        return SkipReason.NESTED_TOO_DEEPLY, f"{function.name} is nested too deeply to be followed"
    if function.is_template:
        return SkipReason.TEMPLATE_SIGNATURE, f"{function.name} is a template"
    if p.know.path.suffix in HEADERS or not (function.internal or _named_here_only(p, function)):
        return SkipReason.EXTERNAL_LINKAGE, f"{function.name} can be called from other files"
    others = [one for one in p.model.named(function.name) if one is not function]
    if not result and not all(_apart(p, function, other) for other in others):
        return SkipReason.OVERLOADED, f"the file has several functions called {function.name}"
    return None


def _apart(p: Pass, function: Function, other: Function) -> bool:
    """Return whether no number of arguments can call both of two functions of one name.

    Otherwise, a SymInt argument may select another of them than the integer did.
    """
    least, most = required(p.model, p.know.api, function), len(function.parameters)
    return len(other.parameters) < least or most < required(p.model, p.know.api, other)


def _named_here_only(p: Pass, function: Function) -> bool:
    """Return whether a function of at::native is named by no header. Other callers would have to declare it by hand."""
    native = "::".join(function.namespaces).startswith("at::native")
    return native and not p.know.api.named_in_headers(function.name)


def follows_schema(p: Pass, parameter: Variable) -> bool:
    """Return whether a kernel's parameter is being changed to the symbolic type of its schema."""
    expected = p.expected.get(parameter.function.node.id)
    return expected is not None and read_type(expected.parameters[parameter.position][0]) in SYMBOLIC.values()


def takes_results(p: Pass, call: Node) -> bool:
    """Return whether a call of a function accepts a symbolic result, which it does except in a kernel.

    In a helper of kernels, which only sees real data, the result is turned back into integers.
    """
    caller = p.model.function_at(call.start_byte)
    if p.know.eligibility.is_eligible(caller):
        return True
    return caller is not None and not caller.in_class and not p.know.eligibility.is_registered(caller)


@dataclass(frozen=True)
class Uses:
    """Uses of a function in the file: its calls, and the places where it is used in another way.

    ``registered`` are the places that pass it to the dispatcher, which accepts its present signature.
    """

    calls: tuple[Node, ...]
    escapes: tuple[tuple[Node, SkipReason, str], ...]
    registered: tuple[Node, ...] = ()


def uses(p: Pass, function: Function) -> Uses:
    """Return every use of a function of this file."""
    if function.is_lambda:
        holder = function.node.parent
        if holder is not None and holder.type == "call_expression":
            return Uses((holder,), ())
        name = None if holder is None or holder.type != "init_declarator" else holder.child_by_field_name("declarator")
        variable = None if name is None else p.model.resolved[name]
        if variable is None or variable.type is not Type.AUTO:
            return Uses((), ((function.node, SkipReason.LAMBDA_ESCAPES, ""),))
        mentions = list(p.model.references(variable))
    else:
        mentions = p.model.mentions.get(function.name, [])
    calls: list[Node] = []
    registered: list[Node] = []
    escapes: list[tuple[Node, SkipReason, str]] = []
    for mention in mentions:
        callee: Node = mention
        while callee.parent is not None and callee.parent.type == "qualified_identifier":
            callee = callee.parent
        call = callee.parent
        if call is None or call.type != "call_expression":
            if p.know.eligibility.is_registered(function) and p.know.eligibility.registrations.names(mention):
                registered.append(mention)
                continue
            escapes.append((mention, SkipReason.FUNCTION_ESCAPES, f"{function.name} is named without being called"))
        elif function not in (owns := p.types.own_functions(call)) and owns:
            continue
        elif len(owns) > 1:
            detail = f"one of several functions called {function.name} is called"
            escapes.append((mention, SkipReason.OVERLOADED, detail))
        else:
            calls.append(call)
    return Uses(tuple(calls), tuple(escapes), tuple(registered))


def returned_values(function: Function) -> Iterator[Node]:
    """Yield the expressions that a function returns, except those of lambdas inside it."""
    waiting = [function.body]
    while waiting:
        node = waiting.pop()
        if node.type == "return_statement" and node.named_children:
            yield node.named_children[0]
        elif node.type != "lambda_expression":
            waiting.extend(node.named_children)
