"""Requests to the ``sizevars`` of Inductor's graph, which knows its sizes as ``sympy`` expressions."""

from __future__ import annotations

import ast

SIZEVARS = "torch._inductor.sizevars.SizeVarAllocator"
UNDECIDED = "torch.fx.experimental.symbolic_shapes.has_free_unbacked_symbols"
"""Function that returns whether an expression, or one of several, has an undecided size in it."""


def is_sizevars(receiver: ast.expr) -> bool:
    """Return whether an expression is ``sizevars``, or an attribute of that name."""
    return ast.unparse(receiver).rpartition(".")[2] == "sizevars"


def request(call: ast.Call) -> str:
    """Return the name of the method if a call is ``sizevars.method(…)``, else ""."""
    func = call.func
    return func.attr if isinstance(func, ast.Attribute) and is_sizevars(func.value) else ""


def is_request(call: ast.Call, method: str) -> bool:
    """Return whether a call is ``sizevars.method(size)``."""
    return request(call) == method and len(call.args) == 1 and not call.keywords
