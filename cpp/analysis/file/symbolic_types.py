"""Symbolic counterparts of written types, by a name that is visible at the type."""

from __future__ import annotations

import re

from tree_sitter import Node

from ...syntax.model import Model
from ...syntax.types import Type, symbolic_text

_UNQUALIFIED = re.compile(r"(?<![:\w])(?=(?:SymIntArrayRef|SymDimVector|OptionalSymIntArrayRef)\b)")


def twin_of(model: Model, node: Node, kind: Type) -> str | None:
    """Return the text of the symbolic counterpart of a concrete type, or None if there is none."""
    text = symbolic_text(model.tree.text(node), kind)
    if text is None or not _UNQUALIFIED.search(text):
        return text
    owner = model.function_at(node.start_byte)
    if owner is None:
        inside = model.names.in_torch(node)
    else:
        inside = owner.namespaces[:1] != () and owner.namespaces[0].split("::")[0] in ("at", "c10", "torch")
    return text if inside else _UNQUALIFIED.sub("c10::", text)
