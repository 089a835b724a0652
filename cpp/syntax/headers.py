"""Index of the C++ functions in torch's own headers that may accept a symbolic size.

The operators of native_functions.yaml are in `TorchApi`. This index has the helpers: ``maybe_wrap_dim``,
``infer_size_symint``, ``c10::multiply_integers``. It contains free functions that have a parameter of a symbolic type
in an overload or in the version ``f_symint``. It also contains functions that return a plain number, and templates,
flagged because no header states whether they accept a ``SymInt``. Public methods of a class are indexed likewise, as
``TensorImpl::set_sizes_and_strides``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...codemods.torchapi.headers import fingerprint, headers, written_by_hand
from ...codemods.torchapi.index_cache import stored
from .functions import FunctionDeclaration, function_declarations, trailing_return
from .types import Type, read_type

if TYPE_CHECKING:
    from tree_sitter import Node

    from .tree import Tree

_SPECIFIERS = frozenset({"inline", "static", "extern", "constexpr", "virtual", "friend"})
_SYMBOLIC = ("SymInt", "SymBool", "SymFloat", "SymDimVector", "SymNode")
_TWIN = "_symint"


@dataclass(frozen=True)
class HeaderFunction:
    """One declaration. ``parameters`` are (type as written, name, whether it has a default)."""

    name: str
    namespace: str
    parameters: tuple[tuple[str, str, bool], ...]
    returns: str
    template: bool
    file: str

    @property
    def symbolic(self) -> bool:
        """Return whether a parameter has a symbolic type."""
        return any(_is_symbolic(kind) for kind, _, _ in self.parameters)

    def takes(self, count: int) -> bool:
        """Return whether it can be called with ``count`` arguments."""
        required = sum(not default for _, _, default in self.parameters)
        return required <= count <= len(self.parameters)


class HeaderIndex:
    """The functions that the headers below some include folders declare, by name. It is read at the first lookup."""

    def __init__(self, include_dirs: Iterable[Path]) -> None:
        self._include_dirs = tuple(include_dirs)

    def overloads(self, name: str) -> tuple[HeaderFunction, ...]:
        """Return every indexed declaration of an unqualified name, or () if there is none."""
        return tuple(
            HeaderFunction(name, namespace, tuple((kind, own, default) for kind, own, default in parameters), *rest)
            for namespace, parameters, *rest in _rows(self._include_dirs).get(name, ())
        )


@lru_cache(maxsize=4)
def _rows(include_dirs: tuple[Path, ...]) -> dict[str, list[list[Any]]]:
    """Return the rows of the index, which is cached until one of the headers changes."""
    digest = hashlib.sha256(fingerprint(include_dirs).encode())
    for name in ("headers.py", "functions.py", "tree.py", "macro_mask.py", "types.py"):
        digest.update(Path(__file__).with_name(name).read_bytes())
    rows: dict[str, list[list[Any]]] = json.loads(
        stored("headers", digest.hexdigest() + ".json", lambda: _index(include_dirs))
    )
    return rows


def _index(include_dirs: tuple[Path, ...]) -> bytes:
    from .tree import Tree

    found: dict[str, list[HeaderFunction]] = {}
    for path in (Path(header.path) for header in headers(include_dirs)):
        content = path.read_bytes()
        if not written_by_hand(content):
            continue
        file = next(str(path.relative_to(folder)) for folder in include_dirs if path.is_relative_to(folder))
        tree = Tree(content)
        for function in _declared(tree, file):
            same = found.setdefault(function.name, [])
            if function not in same:
                same.append(function)
    reach = {name.removesuffix(_TWIN) for name, same in found.items() if any(function.symbolic for function in same)}
    rows = {
        name: [[f.namespace, f.parameters, f.returns, f.template, f.file] for f in kept]
        for name, same in found.items()
        if (kept := [f for f in same if f.template or name.removesuffix(_TWIN) in reach or _gives_number(f)])
    }
    return json.dumps(rows, separators=(",", ":")).encode()


def _declared(tree: Tree, file: str) -> Iterator[HeaderFunction]:
    """Yield the free functions of a header, and the public methods of its classes."""
    for found in function_declarations(tree):
        name, owner = found.name_node, found.around.owner
        is_free = name is not None and name.type == "identifier" and found.around.plain
        is_method = name is not None and name.type == "field_identifier" and owner and not found.around.template
        if name is None or not (is_free or (is_method and _is_public(found.node))) or _broken(found.node):
            continue
        listed = found.declarator.child_by_field_name("parameters")
        parameters = () if listed is not None and listed.text == b"(void)" else found.parameters
        yield HeaderFunction(
            f"{owner}::{_text(tree, name)}" if owner else _text(tree, name),
            "::".join(space for space in found.around.namespaces if space),
            tuple(_parameter(tree, parameter) for parameter in parameters),
            _returned(tree, found),
            found.around.template,
            file,
        )


def _is_public(method: Node) -> bool:
    before = method.prev_named_sibling
    while before is not None and before.type != "access_specifier":
        before = before.prev_named_sibling
    holder = None if method.parent is None else method.parent.parent
    if before is None:
        return holder is not None and holder.type != "class_specifier"
    return before.text == b"public"


def _parameter(tree: Tree, node: Node) -> tuple[str, str, bool]:
    declarator, default = node.child_by_field_name("declarator"), node.child_by_field_name("default_value")
    end = node.end_byte if declarator is None else declarator.end_byte
    if declarator is None and default is not None:
        end = tree.masked.text.rindex(b"=", node.start_byte, default.start_byte)
    name = declarator
    while name is not None and name.type != "identifier":
        name = name.named_children[-1] if name.named_children else None
    if name is None:
        return _plain(tree.masked.text[node.start_byte : end]), "", default is not None
    kind = tree.masked.text[node.start_byte : name.start_byte] + b" " + tree.masked.text[name.end_byte : end]
    return _plain(kind), _text(tree, name), default is not None


def _returned(tree: Tree, found: FunctionDeclaration) -> str:
    trailing = trailing_return(found.declarator)
    if trailing is not None:
        return _text(tree, trailing)
    words = _plain(tree.masked.text[found.node.start_byte : found.declarator.start_byte]).split(" ")
    return " ".join(word for word in words if word not in _SPECIFIERS)


def _broken(node: Node) -> bool:
    """Return whether the declaration itself does not parse. Errors in defaults and bodies do not count."""
    if not node.has_error:
        return False
    if node.type == "ERROR" or node.is_missing:
        return True
    spared = {child.id for name in ("body", "default_value") if (child := node.child_by_field_name(name)) is not None}
    return any(_broken(child) for child in node.children if child.id not in spared)


def _text(tree: Tree, node: Node) -> str:
    return _plain(tree.masked.text[node.start_byte : node.end_byte])


def _plain(text: bytes) -> str:
    return " ".join(text.decode(errors="replace").split())


def _gives_number(function: HeaderFunction) -> bool:
    """Return whether a free function returns a plain number, which a symbolic size may meet."""
    return "::" not in function.name and read_type(function.returns) in (Type.FLOAT, Type.INT)


def _is_symbolic(kind: str) -> bool:
    return any(name in kind for name in _SYMBOLIC)
