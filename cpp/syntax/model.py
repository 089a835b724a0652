"""Functions of one C++ file, their variables by lexical scope, and their mentions."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property, lru_cache
from weakref import ref

from tree_sitter import Node

from ...codemods.model.source_file import SourceFile
from .declarations import NAMES, Function, FunctionScopes, Variable, read_functions, read_scopes
from .names import DeclaredNames
from .structs import read_structs
from .tree import Tree, ancestors, every, parse
from .types import Type

STRUCTURED_META = ("TORCH_META_FUNC", "TORCH_META_FUNC2", "TORCH_PRECOMPUTE_META_FUNC", "TORCH_PRECOMPUTE_META_FUNC2")
STRUCTURED_KERNEL = ("TORCH_IMPL_FUNC",)


class _Resolved(dict[Node, Variable | None]):
    """The parameter or local that each identifier refers to, or None for anything global.

    A lookup fills in all names of the identifier's function.
    """

    def __init__(self, model: Model) -> None:
        self._model = ref(model)  # a cycle would keep the file's tree in memory

    def __missing__(self, identifier: Node) -> Variable | None:
        model = self._model()
        assert model is not None
        self.update(model.resolved_beside(identifier))
        return self.setdefault(identifier, None)


class Model:
    """Functions, scopes, names and structs of one parsed file."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._scopes: dict[int, FunctionScopes] = {}
        self.resolved = _Resolved(self)
        self.names = DeclaredNames(tree)
        self.structs = read_structs(tree, self.names) if b"struct" in tree.content else {}
        """Plain structs of the file by name."""
        self.functions = read_functions(tree, self.names)
        self._by_node = {function.node.id: function for function in self.functions}
        self._starts = [function.node.start_byte for function in self.functions]

    def function_at(self, offset: int) -> Function | None:
        """Return the outermost function definition that contains a byte offset."""
        for index in range(bisect_right(self._starts, offset) - 1, -1, -1):
            function = self.functions[index]
            if offset < function.node.end_byte:
                return function
            if not function.in_class:
                return None
        return None

    def innermost(self, node: Node) -> Function | None:
        """Return the function or lambda that directly contains a node."""
        for around in ancestors(node):
            if around.type in ("function_definition", "lambda_expression"):
                owner = self.function_at(around.start_byte)
                found = self._by_node.get(around.id)
                if found is None and owner is not None:
                    found = self._scopes_of(owner).lambdas.get(around.id)
                if found is not None:
                    return found
        return None

    def named(self, name: str) -> list[Function]:
        """Return the file's own functions of a name, without lambdas and methods."""
        return self._by_name.get(name, [])

    def is_hidden(self, name: str, node: Node) -> bool:
        """Return whether an unqualified call may find a function of the file or its class before torch's own."""
        owner = self.function_at(node.start_byte)
        in_class = owner is not None and owner.in_class
        if in_class and (not self.names.in_torch(node) or any(f.in_class and f.name == name for f in self.functions)):
            return True
        declared = self._prototypes.get(name, ())
        return any(kind is not Type.TENSOR and (in_class or not of_class) for of_class, kind in declared)

    @cached_property
    def _prototypes(self) -> dict[str, list[tuple[bool, Type]]]:
        """Return the result types of functions that the file only declares, and whether each belongs to a class."""
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
    def members(self) -> dict[str, list[Node]]:
        """Return every expression that names a member, by the member's name, except calls of methods."""
        table: dict[str, list[Node]] = defaultdict(list)
        for node in every(self.tree.root, "field_expression"):
            name, around = node.child_by_field_name("field"), node.parent
            called = None if around is None else around.child_by_field_name("function")
            if name is not None and (called is None or called.id != node.id):
                table[self.tree.text(name)].append(node)
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
        """Return every mention of the file's own functions by name, including declarations, without the definition."""
        table: dict[str, list[Node]] = defaultdict(list)
        names = {name.encode() for name in self._by_name}
        for node in every(self.tree.root, *NAMES):
            if node.text not in names:
                continue
            whole, parent = node, node.parent
            while parent is not None and parent.type == "qualified_identifier":
                whole, parent = parent, parent.parent
            name = self.tree.text(node)
            if node is whole and self.resolved[node] is not None:
                continue
            if parent is not None and not _declares_definition(parent) and self._may_name(self.tree.text(whole), name):
                table[name].append(node)
        return table

    def _may_name(self, qualified: str, name: str) -> bool:
        qualifier = qualified.removeprefix("::").rpartition("::")[0]
        return any("::".join(function.namespaces).endswith(qualifier) for function in self.named(name))

    def resolved_beside(self, identifier: Node) -> Mapping[Node, Variable | None]:
        """Return the meaning of the names in the function around an identifier."""
        owner = self.function_at(identifier.start_byte)
        return {} if owner is None else self._scopes_of(owner).resolved

    def references(self, variable: Variable) -> tuple[Node, ...]:
        """Return every use of a variable outside its own declarator."""
        return self._scopes_of(self._by_node[variable.definition]).references.get(variable.node.id, ())

    def variables(self, function: Function) -> tuple[Variable, ...]:
        """Return the parameters and locals of a function definition, including those of its lambdas."""
        return self._scopes_of(function).variables

    def siblings(self, variable: Variable) -> list[Variable]:
        """Return the other variables of the same declaration."""
        declared = self._scopes_of(self._by_node[variable.definition]).variables
        return [v for v in declared if v.declaration.id == variable.declaration.id and v is not variable]

    def lambda_at(self, node: Node) -> Function | None:
        """Return the lambda of a lambda expression."""
        owner = self.function_at(node.start_byte)
        return None if owner is None else self._scopes_of(owner).lambdas.get(node.id)

    def lambda_of(self, variable: Variable) -> Function | None:
        """Return the lambda that initializes a variable, or None."""
        for node in variable.initializers:
            if node.type == "lambda_expression":
                return self.lambda_at(node)
        return None

    def _scopes_of(self, function: Function) -> FunctionScopes:
        """Return the scopes of a function definition, which are read at the first lookup."""
        found = self._scopes.get(function.node.id)
        if found is None:
            found = self._scopes[function.node.id] = read_scopes(self.tree, self.names, function)
        return found


@lru_cache(maxsize=4)
def model_of(source: SourceFile) -> Model:
    """Return the model of a file. The last few are cached."""
    return Model(parse(source))


def _declares_definition(declarator: Node) -> bool:
    if declarator.type != "function_declarator":
        return False
    for around in ancestors(declarator):
        if not around.type.endswith("declarator"):
            return around.type == "function_definition"
    return False
