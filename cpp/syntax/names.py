"""Name lookup for types: torch's own type, or another one of the same name.

``Tensor`` is at::Tensor if it is qualified so, in torch's own namespaces, and after a visible ``using``. A nearer
class, alias or template parameter of the same name hides it, as do the namespaces that have their own Tensor.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from .tree import Tree, ancestors, every
from .types import Type, read_type

_CHAIN = re.compile(r"(?<![\w:])(?:::\s*)?((?:[A-Za-z_]\w*\s*::\s*)*)([A-Za-z_]\w*)")
_OF_TENSORS = frozenset(
    {
        "Tensor", "TensorBase", "Variable", "TensorList", "ITensorListRef", "MaterializedITensorListRef",
        "OptionalTensorRef", "OptionalTensor", "variable_list", "VariableList", "tensor_list", "TensorImpl",
    }
)  # fmt: skip
"""Names of torch's types that other libraries use too. The surrounding code must show that torch's type is meant."""
_TYPES = ("class_specifier", "struct_specifier", "union_specifier", "enum_specifier")
_ALIASES = ("alias_declaration", "type_definition", "using_declaration", "namespace_alias_definition")
_PARAMETERS = (
    "type_parameter_declaration", "optional_type_parameter_declaration", "variadic_type_parameter_declaration",
)  # fmt: skip
_SCOPES = frozenset({"compound_statement", "field_declaration_list", "declaration_list", "translation_unit"})
_HOLDS_TENSORS = frozenset({("at",), ("torch",), ("torch", "autograd"), ("autograd",), ("c10",)})
_SHARES_TENSOR = (("at",), ("torch", "autograd"), ("torch", "distributed"), ("torch", "nn"))
"""Namespaces in which, including all nested ones, ``Tensor`` is at::Tensor."""

_OUTERMOST = frozenset({"at", "torch", "c10", "std"})

_Path = tuple[str, ...]


@dataclass(frozen=True)
class _Declared:
    """A declaration of a name: its extent, and its target (None: a new type)."""

    start: int
    end: int
    path: _Path | None
    """Namespace that contains the name, or None inside a class, a block or a template."""
    node: Node
    target: str | None


class DeclaredNames:
    """The types that one file declares, and the namespaces it opens."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._spaces = sorted(_namespaces(tree))
        self._declared: dict[str, list[_Declared]] = defaultdict(list)
        self._directives: list[_Declared] = []
        self.declaring = every(tree.root, *_TYPES, *_ALIASES, *_PARAMETERS)
        """Nodes that declare names of types, in source order."""
        for node in self.declaring:
            self._declare(node)
        self._methods(tree.root)
        self._asked: set[tuple[str, int]] = set()

    def read(self, text: str, at: Node) -> Type:
        """Return the Type that a type text names at ``at``, or UNKNOWN if one of its names is not torch's."""
        kind = read_type(text)
        if kind in (Type.UNKNOWN, Type.AUTO):
            return kind
        for match in _CHAIN.finditer(text):
            qualifier = tuple(part.strip() for part in match[1].split("::") if part.strip())
            if not self._is_torchs(qualifier, match[2], at):
                return Type.UNKNOWN
        return kind

    def in_torch(self, at: Node) -> bool:
        """Return whether unqualified lookup at ``at`` finds torch's functions."""
        path = self._path(at.start_byte)
        return _shares(path) or bool({("at",), ("torch",)} & set(self._opened(at)))

    def is_outermost(self, namespace: str, at: Node) -> bool:
        """Return whether ``at::`` or ``torch::`` means the global namespace of that name: no alias and no inner one."""
        alias = self._nearest(namespace, at)
        if alias is not None and (alias.target or "").removeprefix("::") not in _OUTERMOST:
            return False
        path = self._path(at.start_byte)
        return not any(
            len(inner) > 1 and inner[-1] == namespace and path[: len(inner) - 1] == inner[:-1]
            for _, _, inner in self._spaces
            if inner and inner[0] not in _OUTERMOST
        )

    def _is_torchs(self, qualifier: _Path, name: str, at: Node) -> bool:
        if not qualifier and name not in self._declared:
            return name not in _OF_TENSORS or self.in_torch(at) or ("torch", "autograd") in self._opened(at)
        if not qualifier:
            return self._means_torchs(name, self._nearest(name, at), at)
        if not self.is_outermost(qualifier[0], at):
            return False
        members = [one for one in self._declared.get(name, ()) if one.path == qualifier]
        if members:
            return self._means_torchs(name, members[-1], members[-1].node)
        return name not in _OF_TENSORS or qualifier in _HOLDS_TENSORS

    def _means_torchs(self, name: str, found: _Declared | None, at: Node) -> bool:
        if found is None:
            return name not in _OF_TENSORS or self.in_torch(at)
        if found.target is None:
            return found.path in (("at",), ("c10",), ("torch",))
        key = (name, found.start)
        if key in self._asked:
            return False
        self._asked.add(key)
        try:
            return self.read(found.target, found.node) is read_type(name)
        finally:
            self._asked.remove(key)

    def _nearest(self, name: str, at: Node) -> _Declared | None:
        """Return the declaration that unqualified lookup finds.

        Inner scopes come first, then inner namespaces, then directives.
        """
        offset, path = at.start_byte, self._path(at.start_byte)
        declared = [one for one in self._declared.get(name, ()) if one.node.id != at.id]
        inner = [one for one in declared if one.path is None and one.start <= offset < one.end]
        if inner:
            return min(inner, key=lambda one: one.end - one.start)
        around = [one for one in declared if one.path is not None and path[: len(one.path)] == one.path]
        opened = self._opened(at)
        near = [one for one in declared if one.path in opened and one.path]
        return max([*near, *around], key=lambda one: len(one.path or ()), default=None)

    def _opened(self, at: Node) -> list[_Path]:
        """Return the namespaces that a visible ``using namespace`` opens."""
        offset, path = at.start_byte, self._path(at.start_byte)
        return [
            tuple(part for part in (one.target or "").split("::") if part)
            for one in self._directives
            if (one.start <= offset < one.end if one.path is None else path[: len(one.path)] == one.path)
        ]

    def _path(self, offset: int) -> _Path:
        found: _Path = ()
        for start, end, path in self._spaces:
            if start > offset:
                break
            if offset < end:
                found = path
        return found

    def _declare(self, node: Node) -> None:
        text = self._tree.text
        if node.type in _PARAMETERS:
            name = node.child_by_field_name("name") or next(
                (c for c in node.named_children if c.type == "type_identifier"), None
            )
            holder = node.parent.parent if node.parent is not None else None
            if name is not None and holder is not None:
                self._declared[text(name)].append(_Declared(holder.start_byte, holder.end_byte, None, node, None))
            return
        start, end, path = self._extent(node)
        if node.type in _TYPES:
            name = node.child_by_field_name("name")
            befriended = node.parent is not None and node.parent.type == "friend_declaration"
            if name is not None and name.type == "type_identifier" and not befriended:
                self._declared[text(name)].append(_Declared(start, end, path, node, None))
        elif node.type == "using_declaration":
            named = node.named_children[-1] if node.named_children else None
            if named is None:
                return
            if any(child.type == "namespace" for child in node.children):
                self._directives.append(_Declared(start, end, path, node, text(named)))
            else:
                last = text(named).rpartition("::")[2].strip()
                self._declared[last].append(_Declared(start, end, path, node, text(named)))
        else:
            name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
            target = node.child_by_field_name("type") or (node.named_children[-1] if node.named_children else None)
            if name is not None and target is not None and name.type in ("type_identifier", "namespace_identifier"):
                self._declared[text(name)].append(_Declared(start, end, path, node, text(target)))

    def _extent(self, node: Node) -> tuple[int, int, _Path | None]:
        scope = next((around for around in ancestors(node) if around.type in _SCOPES), self._tree.root)
        if scope.type in ("compound_statement", "field_declaration_list"):
            return scope.start_byte, scope.end_byte, None
        return scope.start_byte, scope.end_byte, self._path(node.start_byte)

    def _methods(self, root: Node) -> None:
        """Extend the declarations of a class to its methods that are defined outside of it."""
        members: dict[str, list[tuple[str, _Declared]]] = defaultdict(list)
        for name, found in self._declared.items():
            for one in found:
                holder = one.node.parent
                owner = None if holder is None or holder.type != "field_declaration_list" else holder.parent
                called = None if owner is None else owner.child_by_field_name("name")
                if called is not None:
                    members[self._tree.text(called)].append((name, one))
        if not members:
            return
        for function in every(root, "function_definition"):
            declarator = function.child_by_field_name("declarator")
            while declarator is not None and declarator.type != "qualified_identifier":
                declarator = declarator.child_by_field_name("declarator")
            scope = None if declarator is None else declarator.child_by_field_name("scope")
            if scope is None:
                continue
            for name, one in members.get(self._tree.text(scope).partition("<")[0], ()):
                within = _Declared(function.start_byte, function.end_byte, None, one.node, one.target)
                self._declared[name].append(within)


def _shares(path: _Path) -> bool:
    return path == ("torch",) or any(path[: len(one)] == one for one in _SHARES_TENSOR)


def _namespaces(tree: Tree) -> Iterator[tuple[int, int, _Path]]:
    """Yield each namespace's extent and full name, without unnamed parts."""
    waiting: list[tuple[Node, _Path]] = [(tree.root, ())]
    while waiting:
        node, path = waiting.pop()
        for child in node.named_children:
            if child.type == "namespace_definition":
                name, body = child.child_by_field_name("name"), child.child_by_field_name("body")
                words = "" if name is None else tree.text(name)
                inner = (*path, *(part.strip() for part in words.split("::") if part.strip()))
                yield child.start_byte, child.end_byte, inner
                if body is not None:
                    waiting.append((body, inner))
            elif child.type.startswith(("preproc_", "linkage_", "declaration_list", "ERROR")):
                waiting.append((child, path))
