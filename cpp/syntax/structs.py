"""Plain structs of a file: only data members, so that each use of a member is by name or by position."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from tree_sitter import Node

from .names import DeclaredNames
from .tree import Tree, every
from .types import Type

_DECORATION = re.compile(r"\b(?:const|struct)\b|[&\s]")
_IN_BODY = frozenset({"field_declaration", "comment", "{", "}", ";"})


@dataclass(frozen=True, eq=False)
class Field:
    """A data member. ``position`` is its index among the members of its struct."""

    name: str
    owner: str
    node: Node
    position: int
    type: Type
    type_node: Node
    declaration: Node


@dataclass(frozen=True, eq=False)
class Struct:
    """A struct with data members only: no base, no function, no template."""

    name: str
    node: Node
    fields: tuple[Field, ...]

    def field(self, name: str) -> Field | None:
        """Return the member of that name."""
        return next((one for one in self.fields if one.name == name), None)


_CLASSES = ("struct_specifier", "class_specifier")


def read_structs(tree: Tree, names: DeclaredNames) -> Mapping[str, Struct]:
    """Return the plain structs of a file by name. A name of several classes of the file is omitted."""
    nodes = [node for node in names.declaring if node.type in _CLASSES and _is_defined(node)]
    seen = Counter(_name(tree, node) for node in nodes)
    read = (_struct(tree, names, node) for node in nodes if seen[_name(tree, node)] == 1)
    return {struct.name: struct for struct in read if struct is not None}


def bare_type(text: str) -> str:
    """Return the unqualified name of a variable's type, without ``const`` and ``&``."""
    return _DECORATION.sub("", text).rpartition("::")[2]


def _is_defined(node: Node) -> bool:
    return node.child_by_field_name("body") is not None


def _name(tree: Tree, node: Node) -> str:
    name = node.child_by_field_name("name")
    return "" if name is None else tree.text(name)


def _struct(tree: Tree, names: DeclaredNames, node: Node) -> Struct | None:
    body, name, parent = node.child_by_field_name("body"), node.child_by_field_name("name"), node.parent
    if node.type != "struct_specifier" or name is None or name.type != "type_identifier" or body is None:
        return None
    if parent is None or parent.type == "template_declaration" or node.has_error:
        return None
    if any(child.type == "base_class_clause" for child in node.children):
        return None
    if any(child.type not in _IN_BODY for child in body.children):
        return None
    fields: list[Field] = []
    for declaration in body.named_children:
        type_node = declaration.child_by_field_name("type")
        if declaration.type == "comment":
            continue
        if type_node is None or any(child.type == "storage_class_specifier" for child in declaration.children):
            return None
        for declarator in declaration.children_by_field_name("declarator"):
            plain = declarator.type == "field_identifier"
            named = every(declarator, "field_identifier")
            if len(named) != 1 or declarator.type == "function_declarator":
                return None
            kind = names.read(tree.text(type_node), type_node) if plain else Type.UNKNOWN
            field = Field(tree.text(named[0]), tree.text(name), named[0], len(fields), kind, type_node, declaration)
            fields.append(field)
    return Struct(tree.text(name), node, tuple(fields))
