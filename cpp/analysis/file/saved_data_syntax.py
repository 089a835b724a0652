"""Syntax of values that an autograd function saves for backward: ``ctx->saved_data["shape"].toIntVector()``."""

from __future__ import annotations

from tree_sitter import Node

from ...syntax.model import Model
from ...syntax.types import Type

READERS = {
    "toInt": Type.INT, "toIntVector": Type.INT_VEC, "toDouble": Type.FLOAT, "toBool": Type.BOOL,
    "toTensor": Type.TENSOR, "toTensorVector": Type.TENSORS, "toSymInt": Type.SYM_INT, "toSymIntVector": Type.SYM_VEC,
}  # fmt: skip
"""Return types of the methods of an IValue."""


def is_context(model: Model, node: Node) -> bool:
    """Return whether an expression is the AutogradContext parameter of a function."""
    variable = model.resolved[node] if node.type == "identifier" else None
    return variable is not None and "AutogradContext" in variable.type_text


def slot(model: Model, node: Node) -> str | None:
    """Return the key of ``ctx->saved_data["key"]`` as written, or None for anything else and for computed keys."""
    base = node.child_by_field_name("argument") if node.type == "subscript_expression" else None
    listed = node.child_by_field_name("indices")
    if base is None or listed is None or listed.named_child_count != 1 or base.type != "field_expression":
        return None
    holder, name, key = (
        base.child_by_field_name("argument"),
        base.child_by_field_name("field"),
        listed.named_children[0],
    )
    if holder is None or name is None or model.tree.text(name) != "saved_data" or key.type != "string_literal":
        return None
    return model.tree.text(key) if is_context(model, holder) else None
