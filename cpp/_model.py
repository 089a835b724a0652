"""The functions of one C++ file, their variables by lexical scope, and who calls whom."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from tree_sitter import Node

from ..codemods.source import SourceFile
from . import _tree
from ._tree import Tree, ancestors, walk
from ._types import Type, read_type

STRUCTURED_META = ("TORCH_META_FUNC", "TORCH_META_FUNC2", "TORCH_PRECOMPUTE_META_FUNC", "TORCH_PRECOMPUTE_META_FUNC2")
STRUCTURED_KERNEL = ("TORCH_IMPL_FUNC",)
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
    """``local``, ``parameter``, ``range`` (for-range), ``capture``, ``binding`` (structured) or ``array``."""
    position: int = -1


@dataclass(eq=False)
class Function:
    """A function definition, or a lambda (``name`` is then the name of the variable that holds it, or empty)."""

    name: str
    node: Node
    body: Node
    parameters: list[Variable] = field(default_factory=list)
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


class Model:
    """What the rules ask about one parsed file."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.functions: list[Function] = []
        self._variables: dict[tuple[int, str], list[Variable]] = defaultdict(list)
        self._by_node: dict[int, Function] = {}
        self._built: set[int] = set()
        for node in _function_nodes(tree.root):
            self._add_function(node)
        self.functions.sort(key=lambda function: function.node.start_byte)
        self._starts = [function.node.start_byte for function in self.functions]

    def function_at(self, offset: int) -> Function | None:
        """The outermost function definition that holds a byte offset."""
        for index in range(bisect_right(self._starts, offset) - 1, -1, -1):
            function = self.functions[index]
            if offset < function.node.end_byte:
                return function.outermost
            if function.outer is None and not function.in_class:
                return None
        return None

    def innermost(self, node: Node) -> Function | None:
        """The function or lambda that directly holds a node."""
        for around in ancestors(node):
            if around.type in ("function_definition", "lambda_expression"):
                owner = self.function_at(around.start_byte)
                if owner is not None:
                    self._build(owner)
                found = self._by_node.get(around.id)
                if found is not None:
                    return found
        return None

    def named(self, name: str) -> list[Function]:
        """The file's own functions of that name, lambdas and methods left out."""
        return self._by_name.get(name, [])

    @cached_property
    def _by_name(self) -> dict[str, list[Function]]:
        table: dict[str, list[Function]] = defaultdict(list)
        for function in self.functions:
            if not function.is_lambda and not function.in_class:
                table[function.name].append(function)
        return table

    @cached_property
    def mentions(self) -> dict[str, list[Node]]:
        """Every mention of one of the file's own functions by name, declarations too, its definition left out."""
        table: dict[str, list[Node]] = defaultdict(list)
        names = {name.encode() for name in self._by_name}
        for node in walk(self.tree.root):
            if node.type in ("identifier", "type_identifier", "field_identifier") and node.text in names:
                parent = node.parent
                while parent is not None and parent.type == "qualified_identifier":
                    parent = parent.parent
                if parent is not None and not _declares_definition(parent):
                    table[self.tree.text(node)].append(node)
        return table

    def resolve(self, identifier: Node) -> Variable | None:
        """The parameter or local that an identifier names at its place, or None for anything global."""
        owner = self.function_at(identifier.start_byte)
        if owner is None:
            return None
        self._build(owner)
        name = self.tree.text(identifier)
        for scope in ancestors(identifier):
            candidates = self._variables.get((scope.id, name))
            if candidates:
                visible = [v for v in candidates if v.start <= identifier.start_byte or v.node.id == identifier.id]
                if visible:
                    return max(visible, key=lambda variable: variable.start)
        return None

    def references(self, variable: Variable) -> Iterator[Node]:
        """Every use of a variable outside its own declarator."""
        name = variable.name.encode()
        for node in walk(variable.scope):
            named = node.type in ("identifier", "type_identifier") and node.text == name
            if named and node.id != variable.node.id and self.resolve(node) is variable:
                yield node

    def variables(self, function: Function) -> list[Variable]:
        """All variables of a function definition, those of its lambdas included."""
        self._build(function.outermost)
        root = function.node
        return [
            v
            for group in self._variables.values()
            for v in group
            if root.start_byte <= v.node.start_byte < root.end_byte
        ]

    def lambda_of(self, variable: Variable) -> Function | None:
        """The lambda a variable holds, when it is initialized with one."""
        for node in variable.initializers:
            if node.type == "lambda_expression":
                return self._by_node.get(node.id)
        return None

    def _add_function(self, node: Node) -> None:
        declarator = node.child_by_field_name("declarator")
        body = node.child_by_field_name("body")
        while declarator is not None and declarator.type in ("reference_declarator", "pointer_declarator"):
            declarator = declarator.named_children[-1] if declarator.named_children else None
        if declarator is None or body is None or declarator.type != "function_declarator":
            return
        name_node = declarator.child_by_field_name("declarator")
        macro = None
        if name_node is not None and name_node.type == "function_declarator":
            inner = name_node.child_by_field_name("declarator")
            macro = None if inner is None else self.tree.text(inner)
            listed = name_node.child_by_field_name("parameters")
            words = [] if listed is None else [self.tree.text(child) for child in listed.named_children]
            name = "_".join(words)
        else:
            name = "" if name_node is None else self.tree.text(name_node)
        spaces, internal, template, in_class = self._surroundings(node)
        returns_node = node.child_by_field_name("type")
        function = Function(
            name.rsplit("::", 1)[-1],
            node,
            body,
            returns=Type.UNKNOWN if returns_node is None else read_type(self.tree.text(returns_node)),
            returns_node=returns_node,
            namespaces=spaces,
            internal=internal,
            is_template=template,
            macro=macro,
            in_class=in_class or "::" in name,
        )
        self._by_node[node.id] = function
        self.functions.append(function)
        self._parameters(function, declarator)

    def _surroundings(self, node: Node) -> tuple[tuple[str, ...], bool, bool, bool]:
        spaces: list[str] = []
        internal = any(child.type == "storage_class_specifier" and child.text == b"static" for child in node.children)
        template = in_class = False
        for around in ancestors(node):
            if around.type == "namespace_definition":
                name = around.child_by_field_name("name")
                spaces.append("" if name is None else self.tree.text(name))
                internal = internal or name is None
            elif around.type == "template_declaration":
                template = True
            elif around.type in ("class_specifier", "struct_specifier"):
                in_class = True
        return tuple(reversed(spaces)), internal, template, in_class

    def _parameters(self, function: Function, declarator: Node) -> None:
        listed = declarator.child_by_field_name("parameters")
        if listed is None:
            return
        children = [c for c in listed.named_children if c.type.endswith("parameter_declaration")]
        for position, child in enumerate(children):
            type_node = child.child_by_field_name("type")
            inner = child.child_by_field_name("declarator")
            name = None if inner is None else _declared_name(inner)
            end = child.end_byte if name is None else name.start_byte
            type_text = self.tree.content[child.start_byte : end].decode().strip()
            if name is None:
                type_text = type_text.split("=")[0].strip()
            node = name or child
            variable = Variable(
                "" if name is None else self.tree.text(name),
                node,
                function.node,
                function.node.start_byte,
                read_type(type_text),
                type_text,
                type_node,
                child,
                function,
                how="parameter",
                position=position,
            )
            function.parameters.append(variable)
            self._variables[function.node.id, variable.name].append(variable)

    def _build(self, function: Function) -> None:
        if function.node.id not in self._built:
            self._built.add(function.node.id)
            self._visit(function.body, function, function.node)

    def _visit(self, node: Node, function: Function, scope: Node) -> None:
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
        for child in node.named_children:
            self._visit(child, function, inside)

    def _lambda(self, node: Node, outer: Function) -> Function:
        body = node.child_by_field_name("body")
        holder = node.parent
        name = ""
        if holder is not None and holder.type == "init_declarator":
            declared = holder.child_by_field_name("declarator")
            name = "" if declared is None else self.tree.text(declared)
        function = Function(name, node, body or node, is_lambda=True, internal=True, outer=outer)
        self._by_node[node.id] = function
        declarator = node.child_by_field_name("declarator")
        if declarator is not None:
            self._parameters(function, declarator)
            for child in declarator.named_children:
                if child.type == "trailing_return_type" and child.named_children:
                    function.returns_node = child.named_children[0]
                    function.returns = read_type(self.tree.text(function.returns_node))
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
                    initializers = tuple(_tree.arguments(value)) if value.type == "argument_list" else (value,)
            elif declarator.type == "function_declarator":
                listed = declarator.child_by_field_name("parameters")
                initializers = () if listed is None else tuple(vexing_arguments(listed))
            if inner.type == "structured_binding_declarator":
                self._bindings(inner, node, function, scope, initializers)
                continue
            if inner.type in ("array_declarator", "pointer_declarator"):
                how = "array"
            name_node = _declared_name(inner)
            if name_node is not None:
                text = self.tree.content[node.start_byte : type_node.end_byte].decode()
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
            self._declare(name, "", None, declaration, function, scope, initializers, "binding")
            self._variables[scope.id, self.tree.text(name)][-1].position = position

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
        kind = read_type(type_text) if how not in ("binding", "array") else Type.UNKNOWN
        variable = Variable(
            self.tree.text(name), name, scope, name.start_byte, kind, type_text, type_node, declaration, function,
            initializers, how,
        )  # fmt: skip
        self._variables[scope.id, variable.name].append(variable)


@lru_cache(maxsize=4)
def model_of(source: SourceFile) -> Model:
    """The model of a file; the last few are kept."""
    return Model(_tree.parse(source))


def vexing_arguments(parameters: Node) -> list[Node]:
    """The arguments of ``DimVector shape(sizes);``, which the grammar reads as a function's parameters."""
    values = [child for child in parameters.named_children if child.type != "comment"]
    return [value.child_by_field_name("type") or value for value in values]


def _declares_definition(declarator: Node) -> bool:
    if declarator.type != "function_declarator":
        return False
    for around in ancestors(declarator):
        if not around.type.endswith("declarator"):
            return around.type == "function_definition"
    return False


def _function_nodes(root: Node) -> Iterator[Node]:
    """Function definitions outside function bodies, without walking into the bodies."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.type == "function_definition":
            yield node
        elif node.named_child_count and node.type not in (
            "expression_statement",
            "comment",
            "preproc_def",
            "declaration",
        ):
            stack.extend(node.named_children)


def _declared_name(declarator: Node) -> Node | None:
    node: Node | None = declarator
    while node is not None and node.type not in ("identifier", "field_identifier"):
        inner = node.child_by_field_name("declarator")
        node = inner or next((c for c in node.named_children if c.type != "type_qualifier"), None)
    return node
