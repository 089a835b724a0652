"""The symbolic twin of a written type, by a name that is known where the type stands."""

from __future__ import annotations

import re

from tree_sitter import Node

from ..syntax.model import Model
from ..syntax.types import Type, symbolic_text

_UNQUALIFIED = re.compile(r"(?<![:\w])(?=(?:SymIntArrayRef|SymDimVector|OptionalSymIntArrayRef)\b)")


def twin_of(model: Model, node: Node, kind: Type) -> str | None:
    """The text of the symbolic twin of a type of a concrete kind; None when it has none."""
    text = symbolic_text(model.tree.text(node), kind)
    if text is None or not _UNQUALIFIED.search(text):
        return text
    owner = model.function_at(node.start_byte)
    if owner is None:
        inside = model.names.in_torch(node)
    else:
        inside = owner.namespaces[:1] != () and owner.namespaces[0].split("::")[0] in ("at", "c10", "torch")
    return text if inside else _UNQUALIFIED.sub("c10::", text)
