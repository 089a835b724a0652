"""Variables and lambdas of a function, by the scope that declares them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tree_sitter import Node

from .names import Names
from .tree import Tree, arguments
from .types import Type

_SCOPES = frozenset(
    {
        "compound_statement", "for_statement", "for_range_loop", "if_statement", "while_statement", "switch_statement",
        "lambda_expression", "function_definition", "catch_clause", "case_statement",
    }
)  # fmt: skip


@dataclass(eq=False)
class Variable:
    """A parameter or local. ``initializers`` are the expressions its declaration gives it."""

    name: str
    node: Node
    scope: Node
    start: int
    type: Type
    type_text: str
    type_node: Node | None
    declaration: Node
    function: Function
    initializers: tuple[Node, ...] = ()
    how: str = "local"
    """``local``, ``parameter``, ``range`` (for-range), ``capture``, ``structured-binding`` or ``c-array``."""
    position: int = -1


@dataclass(eq=False)
class Function:
    """A function definition, or a lambda (``name`` is then the name of the variable that holds it, or empty)."""

    name: str
    node: Node
    body: Node
    parameters: list[Variable] = field(default_factory=list)
    name_node: Node | None = None
    returns: Type = Type.UNKNOWN
    returns_node: Node | None = None
    namespaces: tuple[str, ...] = ()
    internal: bool = False
    is_template: bool = False
    is_lambda: bool = False
    macro: str | None = None
    in_class: bool = False
    outer: Function | None = None

    @property
    def outermost(self) -> Function:
        """The function definition around a lambda; the function itself otherwise."""
        return self if self.outer is None else self.outer.outermost

    @property
    def signature(self) -> tuple[str, ...]:
        """The parameter type texts, as written."""
        return tuple(parameter.type_text for parameter in self.parameters)


class Declarations:
    """What the functions of one file declare.

    ``variables`` are kept by the node of their scope and their name, ``lambdas`` by their node.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.names = Names(tree)
        self.variables: dict[tuple[int, str], list[Variable]] = defaultdict(list)
        self.lambdas: dict[int, Function] = {}
        self._built: set[int] = set()

    def add_parameters(self, function: Function, declarator: Node) -> None:
        """Add the parameters a declarator names to a function or lambda."""
        listed = declarator.child_by_field_name("parameters")
        if listed is None:
            return
        children = [c for c in listed.named_children if c.type.endswith("parameter_declaration")]
        for position, child in enumerate(children):
            type_node = child.child_by_field_name("type")
            inner = child.child_by_field_name("declarator")
            name = None if inner is None else _declared_name(inner)
            end = child.end_byte if name is None else name.start_byte
            type_text = self.tree.masked.text[child.start_byte : end].decode().strip()
            if name is None:
                type_text = type_text.split("=")[0].strip()
            node = name or child
            variable = Variable(
                "" if name is None else self.tree.text(name),
                node,
                function.node,
                function.node.start_byte,
                self.names.read(type_text, child),
                type_text,
                type_node,
                child,
                function,
                how="parameter",
                position=position,
            )
            function.parameters.append(variable)
            self.variables[function.node.id, variable.name].append(variable)

    def build(self, function: Function) -> None:
        """Add the variables and lambdas of a function definition, once."""
        if function.node.id not in self._built:
            self._built.add(function.node.id)
            waiting = [(function.body, function, function.node)]
            while waiting:
                node, owner, scope = self._visit(*waiting.pop())
                waiting.extend((child, owner, scope) for child in reversed(node.named_children))

    def _visit(self, node: Node, function: Function, scope: Node) -> tuple[Node, Function, Node]:
        """Add what a node declares; the node, and the function and scope that its children stand in."""
        inside = node if node.type in _SCOPES else scope
        if node.type == "lambda_expression":
            function = self._lambda(node, function)
        elif node.type == "declaration":
            self._declaration(node, function, scope)
        elif node.type == "for_range_loop":
            self._for_range(node, function)
        elif node.type == "lambda_capture_initializer":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None and node.parent is not None and node.parent.parent is not None:
                self._declare(left, "auto", None, node, function, node.parent.parent, (right,), "capture")
        return node, function, inside

    def _lambda(self, node: Node, outer: Function) -> Function:
        body = node.child_by_field_name("body")
        holder = node.parent
        name = ""
        if holder is not None and holder.type == "init_declarator":
            declared = holder.child_by_field_name("declarator")
            name = "" if declared is None else self.tree.text(declared)
        function = Function(name, node, body or node, is_lambda=True, internal=True, outer=outer)
        self.lambdas[node.id] = function
        declarator = node.child_by_field_name("declarator")
        if declarator is not None:
            self.add_parameters(function, declarator)
            function.returns_node = trailing_return(declarator)
            if function.returns_node is not None:
                function.returns = self.names.read(self.tree.text(function.returns_node), function.returns_node)
        if function.returns_node is None:
            function.returns = Type.AUTO
        return function

    def _declaration(self, node: Node, function: Function, scope: Node) -> None:
        type_node = node.child_by_field_name("type")
        if type_node is None:
            return
        for declarator in node.children_by_field_name("declarator"):
            inner, initializers = declarator, tuple[Node, ...]()
            how = "local"
            if declarator.type == "init_declarator":
                inner = declarator.child_by_field_name("declarator") or declarator
                value = declarator.child_by_field_name("value")
                if value is not None:
                    initializers = tuple(arguments(value)) if value.type == "argument_list" else (value,)
            elif declarator.type == "function_declarator":
                listed = declarator.child_by_field_name("parameters")
                initializers = () if listed is None else tuple(vexing_arguments(listed))
            if inner.type == "structured_binding_declarator":
                self._bindings(inner, node, function, scope, initializers)
                continue
            if inner.type in ("array_declarator", "pointer_declarator"):
                how = "c-array"
            name_node = _declared_name(inner)
            if name_node is not None:
                first = node.child_by_field_name("declarator") or type_node
                text = self.tree.content[node.start_byte : first.start_byte].decode().strip()
                if inner.type == "reference_declarator":
                    text += inner.text.decode()[0] if inner.text else ""
                self._declare(name_node, text, type_node, node, function, scope, initializers, how)

    def _for_range(self, node: Node, function: Function) -> None:
        declarator, type_node = node.child_by_field_name("declarator"), node.child_by_field_name("type")
        right = node.child_by_field_name("right")
        if declarator is None or type_node is None or right is None:
            return
        if declarator.type == "structured_binding_declarator":
            self._bindings(declarator, node, function, node, ())
            return
        name_node = _declared_name(declarator)
        if name_node is not None:
            text = self.tree.text(type_node) + ("&" if declarator.type == "reference_declarator" else "")
            self._declare(name_node, text, type_node, node, function, node, (right,), "range")

    def _bindings(
        self, declarator: Node, declaration: Node, function: Function, scope: Node, initializers: tuple[Node, ...]
    ) -> None:
        for position, name in enumerate(declarator.named_children):
            self._declare(name, "", None, declaration, function, scope, initializers, "structured-binding")
            self.variables[scope.id, self.tree.text(name)][-1].position = position

    def _declare(
        self,
        name: Node,
        type_text: str,
        type_node: Node | None,
        declaration: Node,
        function: Function,
        scope: Node,
        initializers: tuple[Node, ...],
        how: str,
    ) -> None:
        kind = self.names.read(type_text, name) if how not in ("structured-binding", "c-array") else Type.UNKNOWN
        variable = Variable(
            self.tree.text(name), name, scope, name.start_byte, kind, type_text, type_node, declaration, function,
            initializers, how,
        )  # fmt: skip
        self.variables[scope.id, variable.name].append(variable)


def trailing_return(declarator: Node) -> Node | None:
    """The type behind the ``->`` of a function or lambda, or None."""
    for child in declarator.named_children:
        if child.type == "trailing_return_type" and child.named_children:
            return child.named_children[0]
    return None


def vexing_arguments(parameters: Node) -> list[Node]:
    """The arguments of ``DimVector shape(sizes);``, which the grammar reads as a function's parameters."""
    values = [child for child in parameters.named_children if child.type != "comment"]
    return [value.child_by_field_name("type") or value for value in values]


def _declared_name(declarator: Node) -> Node | None:
    node: Node | None = declarator
    while node is not None and node.type not in ("identifier", "field_identifier"):
        inner = node.child_by_field_name("declarator")
        node = inner or next((c for c in node.named_children if c.type != "type_qualifier"), None)
    return node
