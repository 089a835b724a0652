"""Translation of variable declarations and nested functions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ..syntax.functions import parameter_nodes
from ..syntax.tree import Tree, arguments, every
from .changes import Changes
from .conversions import converted, empty
from .kinds import BRACES, GUARD, NAMES, NOTHING, NULL, UNKNOWN, CppKind
from .operations import made
from .values import Level, PythonExpression
from .write_sets import assigned, child_field, declares

if TYPE_CHECKING:
    from tree_sitter import Node

_NO_OP = re.compile(r"(?:NoNamesGuard|NoTF32Guard)\Z")


class Declarations(Changes):
    """Writer of declarations."""

    def _declaration(self, node: Node) -> None:
        expressions = self.expressions
        type_node = child_field(node, "type")
        kind = expressions.kind_of(type_node)
        constant = any(child.type == "type_qualifier" and b"const" in (child.text or b"") for child in node.children)
        for declarator in node.children_by_field_name("declarator"):
            if kind is GUARD:
                self._guard(node, expressions.tree.text(type_node))
                return
            self._declared(node, declarator, kind, expressions.tree.text(type_node) == "auto", constant)

    def _declared(self, node: Node, declarator: Node, kind: CppKind, auto: bool, constant: bool) -> None:
        expressions = self.expressions
        if declarator.type == "function_declarator":
            self._constructed_like_a_function(declarator, kind)
            return
        if declarator.type != "init_declarator":
            name = expressions.tree.text(declarator)
            if auto or kind is UNKNOWN:
                raise expressions.refused(
                    node, f"a variable of type `{expressions.tree.text(child_field(node, 'type'))}`"
                )
            if kind.name == "list" and "bitset" in expressions.tree.text(child_field(node, "type")):
                value = PythonExpression("[False] * 64", kind, Level.PRODUCT)
            else:
                value = empty(kind)
            self.write(f"{expressions.names.declare(name, kind, low=value.low).text} = {value.text}")
            return
        target, given = child_field(declarator, "declarator"), child_field(declarator, "value")
        reference = target.type == "reference_declarator"
        if reference:
            target = target.named_children[-1]
        if given.type == "lambda_expression":
            self.inner_function(expressions.tree.text(target), given)
            return
        if given.type == "call_expression" and child_field(given, "function").type == "lambda_expression":
            function = self.inner_function(f"{expressions.tree.text(target)}_", child_field(given, "function"))
            value = PythonExpression(f"{function.text}()", function.kind.inner[-1], fresh=True)
        elif given.type == "argument_list":
            value = made(kind, [expressions.write(one) for one in arguments(given)])
        else:
            value = expressions.write(given)
        if kind is UNKNOWN and not auto:
            raise expressions.refused(node, f"a variable of type `{expressions.tree.text(child_field(node, 'type'))}`")
        if target.type == "structured_binding_declarator":
            self._bound(target, value)
            return
        if auto and value.kind in (BRACES, NULL, UNKNOWN):
            raise expressions.refused(node, f"what kind `{expressions.short(given)}` is")
        value = value if auto else converted(value, kind)
        if value.kind is NAMES:
            expressions.names.declare(expressions.tree.text(target), NAMES)
            return
        if reference and given.type == "subscript_expression":
            listed = expressions.tree.text(child_field(given, "argument"))
            if not constant or listed in self.changed:
                raise expressions.refused(node, f"a reference into `{listed}`, which changes")
        value = value if reference else self.taken(value)
        variable = expressions.names.declare(expressions.tree.text(target), value.kind, low=value.low)
        self.write(f"{variable.text} = {value.text}")

    def _constructed_like_a_function(self, declarator: Node, kind: CppKind) -> None:
        """Write ``std::vector<T> v(n, x);``, which the syntax may take for a function declaration."""
        expressions = self.expressions
        name = expressions.tree.text(child_field(declarator, "declarator"))
        listed = expressions.tree.text(child_field(declarator, "parameters"))
        snippet = Tree(f"void f() {{ g{listed}; }}".encode())
        calls = every(snippet.root, "call_expression")
        if not calls or snippet.root.has_error:
            raise expressions.refused(declarator, f"`{expressions.short(declarator)}`")
        inside = replace(expressions, tree=snippet)
        value = self.taken(made(kind, [inside.write(one) for one in arguments(calls[0])]))
        self.write(f"{expressions.names.declare(name, kind, low=value.low).text} = {value.text}")

    def _bound(self, target: Node, value: PythonExpression) -> None:
        expressions = self.expressions
        names = [expressions.tree.text(one) for one in target.named_children]
        if value.kind.name != "tuple" or len(value.kind.inner) != len(names):
            raise expressions.refused(target, f"{len(names)} names for {value.kind}")
        made = [expressions.names.declare(name, kind).text for name, kind in zip(names, value.kind.inner, strict=True)]
        self.write(f"{', '.join(made)} = {value.text}")

    def _guard(self, node: Node, text: str) -> None:
        name = text.rpartition("::")[2]
        if _NO_OP.match(name):
            return  # names are not traced, and a graph does not keep which precision was allowed around it
        if name != "NoGradGuard":
            raise self.expressions.refused(node, f"the guard `{text}`")
        self.write("with torch.no_grad():")
        self.depth += 1

    def _alias_declaration(self, node: Node) -> None:
        text = self.expressions.tree.text
        self.expressions.aliases[text(child_field(node, "name"))] = text(child_field(node, "type"))

    def inner_function(self, name: str, node: Node) -> PythonExpression:
        """Write a nested function, and return it as a value."""
        expressions = self.expressions
        names = expressions.names
        body = child_field(node, "body")
        written = assigned(body)
        own = {expressions.tree.text(one) for one in every(body, "identifier") if declares(one)}
        if any(names.find(one) is not None for one in written - own):
            raise expressions.refused(node, "a lambda that changes variables around it")
        declarator = node.child_by_field_name("declarator")
        names.blocks.append({})
        made, kinds = [], []
        for one in parameter_nodes(declarator) if declarator is not None else []:
            kind = expressions.kind_of(child_field(one, "type"))
            inner = one.child_by_field_name("declarator")
            while inner is not None and inner.type == "reference_declarator":
                inner = inner.named_children[-1]
            if inner is None or kind is UNKNOWN:
                raise expressions.refused(one, f"a parameter of type `{expressions.tree.text(one)}`")
            made.append(names.declare(expressions.tree.text(inner), kind).text)
            kinds.append(kind)
        python = names.declare(name, NOTHING).text
        self.write(f"def {python}({', '.join(made)}):")
        inner_body = replace(self, result=UNKNOWN, depth=self.depth + 1)
        inner_body.block(body)
        names.blocks.pop()
        self.write("")
        self.lines[-1] = ""
        function = CppKind("function", (*kinds, inner_body.result))
        variable = PythonExpression(python, function, name=python)
        names.blocks[-1][name] = variable
        return variable
