"""Function declarations and definitions of a C++ text."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from .tree import Tree

_FUNCTIONS = ("function_definition", "declaration", "field_declaration")
_CLASSES = ("class_specifier", "struct_specifier", "union_specifier")
_PLAIN_SCOPES = frozenset(
    {"translation_unit", "declaration_list", "linkage_specification", "preproc_if", "preproc_ifdef", "preproc_else"}
)
_HOLDS_NO_FUNCTION = ("expression_statement", "comment", "preproc_def", "declaration")
_STRINGS = ("string_literal", "raw_string_literal", "char_literal")
_WORD = re.compile(rb"\w+")
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[^\n]*", re.MULTILINE)


@dataclass(frozen=True)
class SurroundingScopes:
    """Scopes around a function. ``plain``: only namespaces, templates and conditionals that parse."""

    namespaces: tuple[str, ...] = ()
    unnamed: bool = False
    template: bool = False
    in_class: bool = False
    plain: bool = True
    owner: str = ""
    """Name of the class if only namespaces surround it and it is no template, else empty."""


@dataclass(frozen=True, eq=False)
class FunctionDeclaration:
    """A function at namespace level or of a class. ``body`` is None if it is only declared.

    ``name`` is as written, with its qualifiers. For ``TORCH_IMPL_FUNC(f)(…)``, ``name`` is ``f`` and ``macro`` is the
    macro. ``returns`` is the result type, behind ``->`` or in front, or None for a constructor.
    """

    name: str
    name_node: Node | None
    macro: str | None
    node: Node
    declarator: Node
    parameters: tuple[Node, ...]
    returns: Node | None
    body: Node | None
    static: bool
    around: SurroundingScopes

    @property
    def unqualified(self) -> str:
        """Return the name without qualifiers and template arguments."""
        node = self.name_node
        while node is not None and node.type in ("qualified_identifier", "template_function"):
            node = node.child_by_field_name("name")
        return self.name if node is None else _text(node)

    @property
    def is_block(self) -> bool:
        """Return whether a macro such as ``TORCH_LIBRARY(ns, m)`` opens the body.

        The definitions of such a body are not in the text.
        """
        return self.macro is None and self.returns is None and self.name.isupper()


@dataclass(frozen=True)
class DefinitionText:
    """The text of a function definition without comments and layout, and the words outside of its strings."""

    text: bytes
    words: frozenset[str]


@dataclass(frozen=True)
class Outline:
    """The functions that a text defines outside of classes, by unqualified name, and the remaining text.

    Comments, layout and includes are omitted. ``names`` includes the functions of classes.
    """

    definitions: Mapping[str, tuple[DefinitionText, ...]]
    rest: bytes
    names: frozenset[str]


def outline(content: bytes) -> Outline:
    """Return the definitions of a text, without resolving any name."""
    from .tree import every, tree_of

    tree = tree_of(content)
    silent = [(node.start_byte, node.end_byte) for node in every(tree.root, "comment")]
    silent += [match.span() for match in _INCLUDE.finditer(content)]
    strings = [(node.start_byte, node.end_byte) for node in every(tree.root, *_STRINGS)]
    found: dict[str, list[DefinitionText]] = defaultdict(list)
    rest: list[bytes] = []
    names: set[str] = set()
    end = 0
    for function in function_declarations(tree):
        node = function.node
        if function.body is None or function.is_block:
            continue
        names.add(function.unqualified)
        if function.around.in_class:
            continue
        text = _without(content, silent, node.start_byte, node.end_byte)
        words = _WORD.findall(_without(content, silent + strings, node.start_byte, node.end_byte))
        found[function.unqualified].append(DefinitionText(text, frozenset(word.decode() for word in words)))
        rest.append(_without(content, silent, end, node.start_byte))
        end = node.end_byte
    rest.append(_without(content, silent, end, len(content)))
    definitions = {name: tuple(same) for name, same in found.items()}
    return Outline(definitions, b" ".join(piece for piece in rest if piece), frozenset(names))


def _without(content: bytes, spans: list[tuple[int, int]], start: int, end: int) -> bytes:
    """Return a part of a text without some spans and without layout."""
    pieces, at = [], start
    for first, last in sorted(span for span in spans if start <= span[0] < end):
        if first >= at:
            pieces.append(content[at:first])
            at = last
    pieces.append(content[at:end])
    return b" ".join(b" ".join(pieces).split())


def function_declarations(tree: Tree) -> list[FunctionDeclaration]:
    """Return the functions of a text in source order, without those declared inside another."""
    found = []
    stack = [(tree.root, SurroundingScopes())]
    while stack:
        node, around = stack.pop()
        if node.type in _FUNCTIONS:
            declared = _read(node, around)
            if declared is not None:
                found.append(declared)
        elif node.named_child_count and node.type not in _HOLDS_NO_FUNCTION:
            inside = _within(node, around)
            stack.extend((child, inside) for child in reversed(node.named_children))
    return found


def _within(node: Node, around: SurroundingScopes) -> SurroundingScopes:
    if node.type == "namespace_definition":
        name = node.child_by_field_name("name")
        spaces = (*around.namespaces, "" if name is None else _text(name))
        return replace(around, namespaces=spaces, unnamed=around.unnamed or name is None)
    if node.type == "template_declaration":
        return replace(around, template=True)
    if node.type in _CLASSES:
        name = node.child_by_field_name("name")
        owner = _text(name) if name is not None and around.plain and not around.template else ""
        return replace(around, in_class=True, plain=False, owner=owner)
    if node.type in _PLAIN_SCOPES or node.type == "field_declaration_list":
        return around
    return replace(around, plain=False, owner="")


def _read(node: Node, around: SurroundingScopes) -> FunctionDeclaration | None:
    declarator = node.child_by_field_name("declarator")
    while declarator is not None and declarator.type in ("reference_declarator", "pointer_declarator"):
        declarator = declarator.named_children[-1] if declarator.named_children else None
    if declarator is None or declarator.type != "function_declarator":
        return None
    name, macro = declarator.child_by_field_name("declarator"), None
    words = "" if name is None else _text(name)
    if name is not None and name.type == "function_declarator":
        inner, listed = name.child_by_field_name("declarator"), name.child_by_field_name("parameters")
        words = "" if listed is None else "_".join(_text(child) for child in listed.named_children)
        name, macro = None, None if inner is None else _text(inner)
    return FunctionDeclaration(
        words,
        name,
        macro,
        node,
        declarator,
        tuple(parameter_nodes(declarator)),
        trailing_return(declarator) or node.child_by_field_name("type"),
        node.child_by_field_name("body"),
        any(child.type == "storage_class_specifier" and child.text == b"static" for child in node.children),
        around,
    )


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def parameter_nodes(declarator: Node) -> list[Node]:
    """Return the declarations of the parameters of a function or lambda."""
    listed = declarator.child_by_field_name("parameters")
    children = [] if listed is None else listed.named_children
    return [child for child in children if child.type.endswith("parameter_declaration")]


def trailing_return(declarator: Node) -> Node | None:
    """Return the type behind the ``->`` of a function or lambda, or None."""
    for child in declarator.named_children:
        if child.type == "trailing_return_type" and child.named_children:
            return child.named_children[0]
    return None
