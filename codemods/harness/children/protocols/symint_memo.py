"""Memoized arithmetic on symbolic sizes within a trace.

For each tensor of a trace, torch checks whether it is contiguous in one of several memory formats. The same few
products and comparisons of the same sizes are computed thousands of times, each through some thirty Python calls.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

_PURE = ("eq", "ne", "lt", "le", "gt", "ge", "mul", "sub")
"""Operations whose result depends only on their operands. A remainder also depends on known facts about sizes."""
_MOST = 1 << 14
_HINTS = (int, bool, float, type(None))


@cache
def remember_arithmetic() -> None:
    """Patch this process's torch so that each operation on the same expressions is computed once."""
    node: Any = importlib.import_module("torch.fx.experimental.sym_node").SymNode
    tracing: Any = importlib.import_module("torch.fx.experimental.proxy_tensor")
    for name in _PURE:
        operation = getattr(node, f"_{name}", None)
        if operation is not None:
            setattr(node, f"_{name}", _remembering(operation, node, tracing.get_proxy_mode))
    expression = node.expr
    if {"_replacements_version_counter", "_expr_ver", "_expr_cache"} <= {*expression.fget.__code__.co_names}:
        node.expr = property(_first_as_it_is(expression.fget))


def _remembering(
    operation: Callable[[Any, Any], Any], node: Any, traced: Callable[[], Any]
) -> Callable[[Any, Any], Any]:
    """Return a memoized version of the operation. While ``traced`` returns a mode, calls are computed and recorded."""
    known: dict[tuple[Any, ...], dict[str, Any]] = {}

    def operate(self: Any, other: Any) -> Any:
        # Nodes with an `fx_node` are recorded for translation validation.
        plain = self.shape_env is not None and not self.fx_node and not other.fx_node
        if not plain or type(self._hint) not in _HINTS or type(other._hint) not in _HINTS or traced():
            return operation(self, other)
        key = (self.expr, other.expr, self._hint, other._hint, self.pytype, other.pytype)
        told = known.get(key)
        if told is None:
            result = operation(self, other)
            if result._hint is not None and None in (self._hint, other._hint):
                # Some releases read the hint from the environment, so it differs between environments.
                return result
            if len(known) >= _MOST:
                known.clear()
            # The cache must not keep the environment of an ended trace alive.
            known[key] = {**vars(result), "shape_env": None, "_expr_ver": -1, "_expr_cache": None}
            return result
        result = node.__new__(node)
        vars(result).update(told)
        result.shape_env = self.shape_env
        return result

    return operate


def _first_as_it_is(replaced: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a getter that skips the lookup of replaced sizes if nothing was replaced since the last one."""

    def expression(self: Any) -> Any:
        environment = self.shape_env
        if environment is not None:
            version = environment._replacements_version_counter
            if not version:
                return self._expr
            if version == self._expr_ver and self._expr_cache is not None:
                return self._expr_cache
        return replaced(self)

    return expression
