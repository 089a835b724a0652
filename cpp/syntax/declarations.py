"""Functions of a file, and the variables and lambdas of a function by their scope."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from weakref import ref

from tree_sitter import Node

from .functions import FunctionDeclaration, function_declarations, parameter_nodes, trailing_return
from .names import DeclaredNames
from .tree import Tree, arguments, every
from .types import Type

NAMES = ("identifier", "type_identifier")
_SCOPES = frozenset(
    {
        "compound_statement", "for_statement", "for_range_loop", "if_statement", "while_statement", "switch_statement",
        "lambda_expression", "function_definition", "catch_clause", "case_statement",
    }
)  # fmt: skip


_DECLARING = (*sorted(_SCOPES), "declaration", "lambda_capture_initializer")


@dataclass(frozen=True, eq=False)
class Variable:
    """A parameter or local. ``initializers`` are the initial expressions of its declaration."""

    name: str
    node: Node
    scope: Node
    start: int
    type: Type
    type_text: str
    type_node: Node | None
    declaration: Node
    _function: ref[Function]
    """Weak reference. A function refers to its parameters, and a cycle would keep the file's tree in memory."""
    definition: int
    """Node id of the function definition that contains the variable."""
    initializers: tuple[Node, ...] = ()
    how: str = "local"
    """Kind of declaration: ``local``, ``parameter``, ``range`` (for-range), ``capture``, ``structured-binding`` or
    ``c-array``."""
    position: int = -1

    @property
    def function(self) -> Function:
        """Return the function or lambda whose parameter or local it is."""
        function = self._function()
        assert function is not None
        return function


@dataclass(frozen=True, eq=False)
class Function:
    """A function definition, or a lambda. A lambda's ``name`` is that of the variable that holds it, or empty."""

    name: str
    node: Node
    body: Node
    parameters: Sequence[Variable]
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
        """Return the function definition around a lambda, or the function itself otherwise."""
        return self if self.outer is None else self.outer.outermost

    @property
    def type_parameters(self) -> frozenset[str]:
        """Return the names of the type parameters of a function template."""
        around = self.node.parent if self.is_template else None
        listed = None if around is None else around.child_by_field_name("parameters")
        declared = [] if listed is None else every(listed, "type_parameter_declaration")
        names = (node.named_children[-1] for node in declared if node.named_children)
        return frozenset((name.text or b"").decode() for name in names)

    @property
    def parts(self) -> list[Node]:
        """Return the types of the parts of the returned tuple or pair, or none for another type."""
        node = self.returns_node
        while node is not None and node.type == "qualified_identifier":
            node = node.child_by_field_name("name")
        name = None if node is None or node.type != "template_type" else node.child_by_field_name("name")
        listed = None if node is None else node.child_by_field_name("arguments")
        if name is None or listed is None or name.text not in (b"tuple", b"pair"):
            return []
        return [child for child in listed.named_children if child.type != "comment"]

    @property
    def signature(self) -> tuple[str, ...]:
        """Return the parameter type texts, as written."""
        return tuple(parameter.type_text for parameter in self.parameters)


@dataclass(frozen=True)
class FunctionScopes:
    """The declarations of one function definition and the meaning of its names, including those of its lambdas.

    ``lambdas`` are keyed by the ids of their nodes, ``resolved`` by the nodes of identifiers, and ``references`` by the
    ids of the declared names.
    """

    variables: tuple[Variable, ...]
    lambdas: Mapping[int, Function]
    resolved: Mapping[Node, Variable | None]
    references: Mapping[int, tuple[Node, ...]]


def read_functions(tree: Tree, names: DeclaredNames) -> tuple[Function, ...]:
    """Return the function definitions of a file in source order, without those nested in another."""
    return tuple(
        _function(tree, names, found, found.body) for found in function_declarations(tree) if found.body is not None
    )


def _function(tree: Tree, names: DeclaredNames, found: FunctionDeclaration, body: Node) -> Function:
    name, returns = found.name_node, found.returns
    taken: list[Variable] = []
    function = Function(
        found.name.rsplit("::", 1)[-1],
        found.node,
        body,
        taken,
        name_node=name if name is not None and name.type == "identifier" else None,
        returns=Type.UNKNOWN if returns is None else names.read(tree.text(returns), returns),
        returns_node=returns,
        namespaces=found.around.namespaces,
        internal=found.static or found.around.unnamed,
        is_template=found.around.template,
        macro=found.macro,
        in_class=found.around.in_class or "::" in found.name,
    )
    taken += _parameters(tree, names, function, found.parameters)
    return function


def _parameters(tree: Tree, names: DeclaredNames, function: Function, nodes: Sequence[Node]) -> Iterator[Variable]:
    """Yield the parameters of a function or lambda."""
    for position, child in enumerate(nodes):
        inner = child.child_by_field_name("declarator")
        name = None if inner is None else _declared_name(inner)
        end = child.end_byte if name is None else name.start_byte
        type_text = tree.masked.text[child.start_byte : end].decode().strip()
        if name is None:
            type_text = type_text.split("=")[0].strip()
        yield Variable(
            "" if name is None else (name.text or b"").decode(),
            name or child,
            function.node,
            (name or child).start_byte,
            names.read(type_text, child),
            type_text,
            child.child_by_field_name("type"),
            child,
            ref(function),
            function.outermost.node.id,
            how="parameter",
            position=position,
        )


@dataclass(frozen=True)
class _Declaration:
    """Node that declares variables in a scope of a function."""

    node: Node
    function: Function
    scope: Node


class _Reader:
    """Reader of the variables and lambdas of one function definition."""

    def __init__(self, tree: Tree, names: DeclaredNames, function: Function, nodes: Iterable[Node]) -> None:
        self.tree = tree
        self.names = names
        self.variables: dict[tuple[int, str], list[Variable]] = defaultdict(list)
        self.lambdas: dict[int, Function] = {}
        self._add(function.parameters)
        inside = [(function, function.node)]
        for node in nodes:
            while node.start_byte >= inside[-1][1].end_byte:
                inside.pop()
            owner = self._visit(node, *inside[-1])
            if node.type in _SCOPES:
                inside.append((owner, node))

    def _add(self, variables: Iterable[Variable]) -> None:
        for variable in variables:
            self.variables[variable.scope.id, variable.name].append(variable)

    def _visit(self, node: Node, function: Function, scope: Node) -> Function:
        """Record the declarations of a node, and return the function that its contents belong to."""
        if node.type == "lambda_expression":
            function = self._lambda(node, function)
        elif node.type == "declaration":
            self._declaration(_Declaration(node, function, scope))
        elif node.type == "for_range_loop":
            self._for_range(node, function)
        elif node.type == "lambda_capture_initializer":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None and node.parent is not None and node.parent.parent is not None:
                declaration = _Declaration(node, function, node.parent.parent)
                self._declare(left, "auto", None, declaration, (right,), "capture")
        return function

    def _lambda(self, node: Node, outer: Function) -> Function:
        holder, declarator = node.parent, node.child_by_field_name("declarator")
        name = ""
        if holder is not None and holder.type == "init_declarator":
            declared = holder.child_by_field_name("declarator")
            name = "" if declared is None else self.tree.text(declared)
        returns_node = None if declarator is None else trailing_return(declarator)
        returns = Type.AUTO if returns_node is None else self.names.read(self.tree.text(returns_node), returns_node)
        listed: list[Variable] = []
        function = Function(
            name,
            node,
            node.child_by_field_name("body") or node,
            listed,
            returns=returns,
            returns_node=returns_node,
            is_lambda=True,
            internal=True,
            outer=outer,
        )
        self.lambdas[node.id] = function
        if declarator is not None:
            listed += _parameters(self.tree, self.names, function, parameter_nodes(declarator))
            self._add(listed)
        return function

    def _declaration(self, declaration: _Declaration) -> None:
        node = declaration.node
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
                self._bindings(inner, declaration, initializers)
                continue
            if inner.type in ("array_declarator", "pointer_declarator"):
                how = "c-array"
            name_node = _declared_name(inner)
            if name_node is not None:
                first = node.child_by_field_name("declarator") or type_node
                text = self.tree.content[node.start_byte : first.start_byte].decode().strip()
                if inner.type == "reference_declarator":
                    text += inner.text.decode()[0] if inner.text else ""
                self._declare(name_node, text, type_node, declaration, initializers, how)

    def _for_range(self, node: Node, function: Function) -> None:
        declarator, type_node = node.child_by_field_name("declarator"), node.child_by_field_name("type")
        right = node.child_by_field_name("right")
        if declarator is None or type_node is None or right is None:
            return
        declaration = _Declaration(node, function, node)
        if declarator.type == "structured_binding_declarator":
            self._bindings(declarator, declaration, ())
            return
        name_node = _declared_name(declarator)
        if name_node is not None:
            text = self.tree.text(type_node) + ("&" if declarator.type == "reference_declarator" else "")
            self._declare(name_node, text, type_node, declaration, (right,), "range")

    def _bindings(self, declarator: Node, declaration: _Declaration, initializers: tuple[Node, ...]) -> None:
        for position, name in enumerate(declarator.named_children):
            self._declare(name, "", None, declaration, initializers, "structured-binding", position)

    def _declare(
        self,
        name: Node,
        type_text: str,
        type_node: Node | None,
        declaration: _Declaration,
        initializers: tuple[Node, ...],
        how: str,
        position: int = -1,
    ) -> None:
        function = declaration.function
        kind = self.names.read(type_text, name) if how not in ("structured-binding", "c-array") else Type.UNKNOWN
        variable = Variable(
            (name.text or b"").decode(), name, declaration.scope, name.start_byte, kind, type_text, type_node,
            declaration.node, ref(function), function.outermost.node.id, initializers, how, position,
        )  # fmt: skip
        self._add((variable,))


def read_scopes(tree: Tree, names: DeclaredNames, function: Function) -> FunctionScopes:
    """Read the declarations of a function definition, and resolve each name in it that is declared there."""
    nodes = every(function.node, *_DECLARING, *NAMES)
    start = function.body.start_byte
    inside = (node for node in nodes if node.type not in NAMES and node.start_byte >= start)
    read = _Reader(tree, names, function, inside)
    variables = [variable for group in read.variables.values() for variable in group]
    named: dict[bytes, list[Variable]] = defaultdict(list)
    for variable in variables:
        named[variable.name.encode()].append(variable)
    resolved: dict[Node, Variable | None] = {}
    references: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        if node.type not in NAMES:
            continue
        meant = _visible(named.get(node.text or b"", ()), node)
        resolved[node] = meant
        if meant is not None and meant.node.id != node.id:
            references[meant.node.id].append(node)
    frozen = {key: tuple(nodes) for key, nodes in references.items()}
    return FunctionScopes(tuple(variables), read.lambdas, resolved, frozen)


def _visible(candidates: Sequence[Variable], name: Node) -> Variable | None:
    """Return the innermost declaration before a name, the last of its scope."""
    at = name.start_byte
    visible = (
        variable
        for variable in candidates
        if variable.scope.start_byte <= at < variable.scope.end_byte
        and (variable.start <= at or variable.node.id == name.id)
    )
    return max(visible, key=lambda one: (one.scope.start_byte, -one.scope.end_byte, one.start), default=None)


def vexing_arguments(parameters: Node) -> list[Node]:
    """Return the arguments of ``DimVector shape(sizes);``, which the grammar parses as a function's parameters.

    For ``DimVector shape(std::move(sizes));`` the result is ``sizes``.
    """
    values = [child for child in parameters.named_children if child.type != "comment"]
    return [moved(value) or value.child_by_field_name("type") or value for value in values]


def moved(parameter: Node) -> Node | None:
    """Return the moved value of a ``std::move(value)`` that the grammar parses as a parameter, else None."""
    kind, declarator = parameter.child_by_field_name("type"), parameter.child_by_field_name("declarator")
    if kind is None or kind.text != b"std::move" or declarator is None:
        return None
    listed = declarator.child_by_field_name("parameters")
    inner = [] if listed is None else listed.named_children
    return inner[0].child_by_field_name("type") if len(inner) == 1 else None


def _declared_name(declarator: Node) -> Node | None:
    node: Node | None = declarator
    while node is not None and node.type not in ("identifier", "field_identifier"):
        inner = node.child_by_field_name("declarator")
        node = inner or next((c for c in node.named_children if c.type != "type_qualifier"), None)
    return node
