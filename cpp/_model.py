"""The functions of one C++ file, their variables by lexical scope, and who calls whom."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property, lru_cache

from tree_sitter import Node

from ..codemods.engine.source import SourceFile
from . import _tree
from ._declarations import Declarations, Function, Variable, trailing_return
from ._tree import Tree, ancestors, every
from ._types import Type

STRUCTURED_META = ("TORCH_META_FUNC", "TORCH_META_FUNC2", "TORCH_PRECOMPUTE_META_FUNC", "TORCH_PRECOMPUTE_META_FUNC2")
STRUCTURED_KERNEL = ("TORCH_IMPL_FUNC",)
_NAMES = ("identifier", "type_identifier")


class Model:
    """What the rules ask about one parsed file."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.functions: list[Function] = []
        self._by_node: dict[int, Function] = {}
        self._references: dict[int, list[Node]] = {}
        self._named: dict[int, dict[str, list[Node]]] = {}
        self._declared = Declarations(tree)
        self.names = self._declared.names
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
                    self._declared.build(owner)
                found = self._by_node.get(around.id) or self._declared.lambdas.get(around.id)
                if found is not None:
                    return found
        return None

    def named(self, name: str) -> list[Function]:
        """The file's own functions of that name, lambdas and methods left out."""
        return self._by_name.get(name, [])

    def is_hidden(self, name: str, node: Node) -> bool:
        """Whether an unqualified call at a place may find something of the file or its class before torch's own."""
        owner = self.function_at(node.start_byte)
        in_class = owner is not None and owner.in_class
        if in_class and (not self.names.in_torch(node) or any(f.in_class and f.name == name for f in self.functions)):
            return True
        declared = self._prototypes.get(name, ())
        return any(kind is not Type.TENSOR and (in_class or not of_class) for of_class, kind in declared)

    @cached_property
    def _prototypes(self) -> dict[str, list[tuple[bool, Type]]]:
        """What functions that the file declares and does not define return, and whether each belongs to a class."""
        table: dict[str, list[tuple[bool, Type]]] = defaultdict(list)
        for node in every(self.tree.root, "function_declarator"):
            name, holder = node.child_by_field_name("declarator"), node.parent
            while holder is not None and holder.type.endswith("_declarator") and holder.type != "init_declarator":
                holder = holder.parent
            returns = None if holder is None else holder.child_by_field_name("type")
            if name is None or holder is None or returns is None or self.function_at(node.start_byte) is not None:
                continue
            if holder.type in ("declaration", "field_declaration"):
                kind = self.names.read(self.tree.text(returns), returns)
                table[self.tree.text(name)].append((holder.type == "field_declaration", kind))
        return table

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
        for node in every(self.tree.root, *_NAMES):
            if node.text not in names:
                continue
            whole, parent = node, node.parent
            while parent is not None and parent.type == "qualified_identifier":
                whole, parent = parent, parent.parent
            name = self.tree.text(node)
            if node is whole and self.resolve(node) is not None:
                continue
            if parent is not None and not _declares_definition(parent) and self._may_name(self.tree.text(whole), name):
                table[name].append(node)
        return table

    def _may_name(self, qualified: str, name: str) -> bool:
        qualifier = qualified.removeprefix("::").rpartition("::")[0]
        return any("::".join(function.namespaces).endswith(qualifier) for function in self.named(name))

    def resolve(self, identifier: Node) -> Variable | None:
        """The parameter or local that an identifier names at its place, or None for anything global."""
        owner = self.function_at(identifier.start_byte)
        if owner is None:
            return None
        self._declared.build(owner)
        name = self.tree.text(identifier)
        for scope in ancestors(identifier):
            candidates = self._declared.variables.get((scope.id, name))
            if candidates:
                visible = [v for v in candidates if v.start <= identifier.start_byte or v.node.id == identifier.id]
                if visible:
                    return max(visible, key=lambda variable: variable.start)
        return None

    def references(self, variable: Variable) -> Iterator[Node]:
        """Every use of a variable outside its own declarator."""
        known = self._references.get(variable.node.id)
        if known is None:
            start, end = variable.scope.start_byte, variable.scope.end_byte
            known = self._references[variable.node.id] = [
                node
                for node in self._names_in(variable.function.outermost).get(variable.name, ())
                if start <= node.start_byte < end and node.id != variable.node.id and self.resolve(node) is variable
            ]
        yield from known

    def _names_in(self, function: Function) -> dict[str, list[Node]]:
        """Where each name stands in a function definition."""
        found = self._named.get(function.node.id)
        if found is None:
            found = self._named[function.node.id] = defaultdict(list)
            for node in every(function.node, *_NAMES):
                found[self.tree.text(node)].append(node)
        return found

    def variables(self, function: Function) -> list[Variable]:
        """All variables of a function definition, those of its lambdas included."""
        self._declared.build(function.outermost)
        root = function.node
        return [
            v
            for group in self._declared.variables.values()
            for v in group
            if root.start_byte <= v.node.start_byte < root.end_byte
        ]

    def lambda_at(self, node: Node) -> Function | None:
        """The lambda that a lambda expression is."""
        owner = self.function_at(node.start_byte)
        if owner is not None:
            self._declared.build(owner)
        return self._declared.lambdas.get(node.id)

    def lambda_of(self, variable: Variable) -> Function | None:
        """The lambda a variable holds, when it is initialized with one."""
        for node in variable.initializers:
            if node.type == "lambda_expression":
                return self._declared.lambdas.get(node.id)
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
        returns_node = trailing_return(declarator) or node.child_by_field_name("type")
        function = Function(
            name.rsplit("::", 1)[-1],
            node,
            body,
            name_node=name_node if name_node is not None and name_node.type == "identifier" else None,
            returns=Type.UNKNOWN
            if returns_node is None
            else self.names.read(self.tree.text(returns_node), returns_node),
            returns_node=returns_node,
            namespaces=spaces,
            internal=internal,
            is_template=template,
            macro=macro,
            in_class=in_class or "::" in name,
        )
        self._by_node[node.id] = function
        self.functions.append(function)
        self._declared.add_parameters(function, declarator)

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


@lru_cache(maxsize=4)
def model_of(source: SourceFile) -> Model:
    """The model of a file; the last few are kept."""
    return Model(_tree.parse(source))


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
