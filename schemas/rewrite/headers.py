"""Declarations in headers of functions whose parameters take SymInts now."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from ...codemods.engine.edits import Edit
from ...codemods.torchapi import Signature
from ...cpp.syntax.functions import FunctionDeclaration, function_declarations
from ...cpp.syntax.tree import Tree, tree_of
from ...cpp.syntax.types import SYMBOLIC, read_type, symbolic_text


def declared(header: bytes, name: str, expected: Signature, spaces: Sequence[str] | None = None) -> list[Edit]:
    """What a header's declarations of a function say once it has another signature.

    Of several functions of the name those are meant whose types agree; ``spaces`` are the namespaces of the function.
    """
    tree = tree_of(header)
    edits: list[Edit] = []
    for one in function_declarations(tree):
        inside = [part for space in one.around.namespaces for part in space.split("::") if part]
        if one.unqualified == name and (spaces is None or inside == list(spaces)):
            edits += _as_expected(tree, one, expected) or []
    return edits


def _as_expected(tree: Tree, one: FunctionDeclaration, expected: Signature) -> list[Edit] | None:
    if len(one.parameters) != len(expected.parameters):
        return None
    edits: list[Edit] = []
    for parameter, (written, _) in zip(one.parameters, expected.parameters, strict=True):
        kind = parameter.child_by_field_name("type")
        if kind is None:
            return None
        now, then = read_type(_text(tree, parameter)), read_type(written)
        if now is then:
            continue
        new = symbolic_text(tree.text(kind), now)
        if SYMBOLIC.get(now) is not then or new is None:
            return None
        edits.append(Edit(kind.start_byte, kind.end_byte, new.encode()))
    node = one.name_node
    if node is not None and tree.text(node) != expected.name:
        edits.append(Edit(node.start_byte, node.end_byte, expected.name.encode()))
    return edits


def _text(tree: Tree, parameter: Node) -> str:
    """The type of a parameter without its name and default."""
    named = parameter.child_by_field_name("declarator")
    while named is not None and named.type not in ("identifier", "abstract_reference_declarator"):
        named = named.named_children[-1] if named.named_children else None
    end = parameter.end_byte if named is None or named.type != "identifier" else named.start_byte
    return tree.content[parameter.start_byte : end].decode().partition("=")[0].strip()
