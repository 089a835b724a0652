"""Unsigned integers that count: they are never negative, so a SymInt can represent their values."""

from __future__ import annotations

import re

from tree_sitter import Node

from ...syntax.declarations import Variable
from ...syntax.tree import arguments
from ...syntax.types import Type
from .inference import Inference
from .methods import RANGES

_COUNTING = frozenset(
    {"size", "numel", "nbytes", "dim", "ndimension", "stride", "storage_offset", "itemsize", "element_size", "length"}
)
_SMALL = re.compile(r"(?:const )?(?:unsigned|unsigned int|(?:std::)?uint(?:8|16|32)_t)(?: const)?&?")
_WRITING = frozenset({"assignment_expression", "update_expression", "pointer_expression"})
_HANDING = frozenset({"argument_list", "initializer_list", "lambda_capture_specifier", "init_declarator"})
"""Parents of a use that may bind a reference to the variable, through which other code writes it."""
_SIGNED = range(2**63)
_DEEPEST = 8
"""Limit on the length of a chain of variables that are initialized from one another."""


def counts(types: Inference, node: Node, depth: int = 0) -> bool:
    """Return whether a value is computed from sizes, lengths and literals and is never below 0.

    An unsigned parameter does not count: ``size_t limit = -1``, the largest value, is a common way to mean "no limit".
    """
    if node.type == "parenthesized_expression" and node.named_children:
        return counts(types, node.named_children[-1], depth)
    if node.type == "binary_expression":
        left, right, sign = (node.child_by_field_name(name) for name in ("left", "right", "operator"))
        kept = sign is not None and sign.type in ("+", "*", "/", "%")
        both = [side for side in (left, right) if side is not None and counts(types, side, depth)]
        return kept and len(both) == 2
    if node.type == "call_expression":
        function, handed = node.child_by_field_name("function"), arguments(node)
        if function is not None and function.type == "template_function" and len(handed) == 1:
            return types.model.tree.text(function).startswith("static_cast") and counts(types, handed[0], depth)
        receiver = types.receiver(node)
        return receiver is not None and receiver[1] in _COUNTING
    if node.type == "identifier" and types.type_of(node) is Type.UNSIGNED and depth < _DEEPEST:
        variable = types.model.resolved[node]
        return variable is not None and _variable_counts(types, variable, depth + 1)
    return node.type == "number_literal" and _value(types.model.tree.text(node)) in _SIGNED


def _value(literal: str) -> int:
    """Return the value of a C++ integer literal, or -1 if it is none."""
    digits = re.sub(r"^0(?=[0-7])", "0o", literal.lower().replace("'", ""))
    try:
        return int(re.sub(r"[ulz]+$", "", digits), 0)
    except ValueError:
        return -1


def _variable_counts(types: Inference, variable: Variable, depth: int) -> bool:
    if _SMALL.fullmatch(" ".join(variable.type_text.split())):
        return True
    if not variable.initializers or not all(_starts(types, variable, one, depth) for one in variable.initializers):
        return False
    constant = "const" in variable.type_text.split()
    return constant or not any(_may_write(types, use, depth) for use in types.model.references(variable))


def _starts(types: Inference, variable: Variable, value: Node, depth: int) -> bool:
    """Return whether a variable's initial value counts.

    A loop variable never exceeds its bound in a feasible run time.
    """
    if variable.how == "range":
        ends = arguments(value)
        return types.callee(value) in RANGES and (len(ends) == 1 or counts(types, ends[0], depth))
    return variable.how == "local" and counts(types, value, depth)


def _may_write(types: Inference, use: Node, depth: int) -> bool:
    """Return whether a use may assign a value that does not count. Increments never overflow in a feasible run time."""
    around = use.parent
    if around is None or around.type in _HANDING:
        return True
    if around.type not in _WRITING:
        return False
    if around.type == "assignment_expression":
        left, right, sign = (around.child_by_field_name(name) for name in ("left", "right", "operator"))
        if left is None or left.id != use.id:
            return False
        kept = sign is not None and sign.type in ("=", "+=")
        return not (kept and right is not None and counts(types, right, depth))
    return around.type != "update_expression" or "--" in types.model.tree.text(around)
