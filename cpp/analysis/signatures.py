"""Signatures of the file's own functions: whether they may change, who calls them, what they return."""

from __future__ import annotations

from tree_sitter import Node

from ..syntax.declarations import Function, Variable
from ..syntax.tree import field, is_deep
from ..syntax.types import SYMBOLIC, Type, read_type
from .flow import Entity, Flow

HEADERS = frozenset({".h", ".hpp", ".cuh", ".hh"})


def may_change(p: Flow, function: Function) -> tuple[str, str] | None:
    """None when the signature is this file's to change, else the reason and a sentence."""
    if function.is_lambda:
        return None
    if p.know.eligibility.is_registered(function):
        return "kernel-signature", f"the dispatcher calls {function.name}: its signature follows the schema"
    if function.in_class:
        return "method-signature", f"{function.name} belongs to a class"
    if is_deep(function.node):
        return "nested-too-deeply", f"{function.name} is nested too deeply to be followed"
    if function.is_template:
        return "template-signature", f"{function.name} is a template"
    if p.know.path.suffix in HEADERS or not (function.internal or _named_here_only(p, function)):
        return "external-linkage", f"{function.name} can be called from other files"
    if len(p.model.named(function.name)) > 1:
        return "overloaded", f"the file has several functions called {function.name}"
    return None


def _named_here_only(p: Flow, function: Function) -> bool:
    """A function of at::native that no header names: whoever else called it would have to declare it by hand."""
    native = "::".join(function.namespaces).startswith("at::native")
    return native and not p.know.api.named_in_headers(function.name)


def follows_schema(p: Flow, parameter: Variable) -> bool:
    """Whether a kernel's parameter is being brought to the symbolic type that its schema has for it."""
    kernel = p.kernels.get(parameter.function.node.id)
    return kernel is not None and read_type(kernel.parameters[parameter.position][0]) in SYMBOLIC.values()


def call_sites(p: Flow, function: Function, entity: Entity) -> list[Node]:
    """Every call of a function of this file; a conflict where it is used in any other way."""
    if function.is_lambda:
        holder = function.node.parent
        if holder is not None and holder.type == "call_expression":
            return [holder]
        name = None if holder is None or holder.type != "init_declarator" else field(holder, "declarator")
        variable = None if name is None else p.model.resolve(name)
        if variable is None or variable.type is not Type.AUTO:
            p.conflict(entity, function.node, "lambda-escapes", "the lambda is handed to code that can't be seen")
            return []
        mentions = list(p.model.references(variable))
    else:
        mentions = p.model.mentions.get(function.name, [])
    calls: list[Node] = []
    for mention in mentions:
        callee: Node = mention
        while callee.parent is not None and callee.parent.type == "qualified_identifier":
            callee = callee.parent
        call = callee.parent
        if call is None or call.type != "call_expression":
            p.conflict(entity, mention, "function-escapes", f"{function.name} is named without being called")
        else:
            calls.append(call)
    return calls


def returned_values(p: Flow, function: Function) -> list[Node]:
    """The expressions a function returns, those of lambdas inside it left out."""
    found: list[Node] = []
    waiting = [function.body]
    while waiting:
        node = waiting.pop()
        if node.type == "return_statement" and node.named_children:
            found.append(node.named_children[0])
        elif node.type != "lambda_expression":
            waiting.extend(node.named_children)
    return found
