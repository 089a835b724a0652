"""Declarations of functions whose parameters now take SymInts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from ...codemods.model.edit import Edit
from ...codemods.torchapi import DispatcherSignature
from ..syntax.functions import FunctionDeclaration, function_declarations
from ..syntax.model import Model
from ..syntax.tree import Tree, tree_of
from ..syntax.types import SYMBOLIC, read_type, symbolic_text


def redeclared(
    content: bytes, name: str, expected: DispatcherSignature, spaces: Sequence[str] | None = None
) -> list[Edit]:
    """Return the edits of a function's declarations in a file for a changed signature.

    Only functions of the name with matching types are edited. ``spaces`` are the namespaces of the function.
    """
    tree = tree_of(content)
    return [edit for one in prototypes(tree, name, spaces) for edit in _as_expected(tree, one, expected) or []]


def stand_in(model: Model, expected: DispatcherSignature) -> str:
    """Return a definition with the present name and types of a file's function, for a text that calls it."""
    (function,) = model.named(expected.name)
    returns = "void" if function.returns_node is None else model.tree.text(function.returns_node)
    taken = ", ".join(f"{kind} {name}" for kind, name in expected.parameters)
    return f"{returns} {expected.name}({taken}) {{ throw 0; }}\n"


def prototypes(tree: Tree, name: str, spaces: Sequence[str] | None = None) -> Iterator[FunctionDeclaration]:
    """Yield the declarations of a function in a file that do not define it."""
    for one in function_declarations(tree):
        inside = [part for space in one.around.namespaces for part in space.split("::") if part]
        if one.body is None and one.unqualified == name and (spaces is None or inside == list(spaces)):
            yield one


def _as_expected(tree: Tree, one: FunctionDeclaration, expected: DispatcherSignature) -> list[Edit] | None:
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
    """Return the type of a parameter without its name and default."""
    named = parameter.child_by_field_name("declarator")
    while named is not None and named.type not in ("identifier", "abstract_reference_declarator"):
        named = named.named_children[-1] if named.named_children else None
    end = parameter.end_byte if named is None or named.type != "identifier" else named.start_byte
    return tree.content[parameter.start_byte : end].decode().partition("=")[0].strip()
