"""Dispatcher registrations of Python functions, which decide whether they are called with fake or real tensors.

A fake kernel and a decomposition see symbolic sizes. The function of ``custom_op`` does not: it runs on real tensors
only. Nevertheless ``int`` in its annotations is a SymInt in its schema.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import lru_cache

from ...syntax.module import Module
from ...syntax.tree import FunctionDefinition, last_word


class DispatchedTensors(Enum):
    """Tensors that a registered function is called with."""

    FAKE = "fake tensors too, so that sizes are symbols"
    REAL = "real tensors only"


_FAKE = frozenset({"register_fake", "impl_abstract", "register_meta", "triton_op", "register_decomposition"})
_REAL = frozenset({"custom_op", "register_kernel"})
_NAMES = _FAKE | _REAL | {"impl"}
_FAKE_KEYS = frozenset(
    {"Meta", "CompositeImplicitAutograd", "CompositeExplicitAutograd", "Autograd", "Functionalize", ""}
)
REGISTERING_FAKES = (
    *(name.encode() for name in sorted(_FAKE)),
    *(b"impl" + after for after in (b"(", b")", b",", b";", b"#", b"\\", b" ", b"\t", b"\r", b"\n", b"\f")),
)
"""Markers of files that register a function as `DispatchedTensors.FAKE`: the registering name, or ``impl`` as a whole
word. Each such file contains at least one, since it must call or import the function."""
# A registering function has one of these names, or ``impl``, here or where it is imported from.
_REGISTERING = tuple(name.encode() for name in sorted(_FAKE | _REAL))
_IMPL = re.compile(rb"impl\b")


def registered(module: Module, function: FunctionDefinition) -> DispatchedTensors | None:
    """Return the tensors that a function, or the one around it, is called with, or None if it is not registered."""
    known = _registrations(module)
    return known.get(function.outermost.node) if known else None


@lru_cache(maxsize=8)
def _registrations(module: Module) -> dict[ast.AST, DispatchedTensors]:
    content = module.source.content
    if not any(word in content for word in _REGISTERING) and not _IMPL.search(content):
        return {}
    telling = module.names.spellings(_NAMES)
    found: dict[ast.AST, DispatchedTensors] = {}
    for function in module.functions:
        for decorator in function.node.decorator_list if function.outer is None else ():
            call = decorator if isinstance(decorator, ast.Call) else None
            if last_word(call.func if call else decorator) not in telling:
                continue
            seen = _seen(module, call.func if call else decorator, call.args if call else (), call)
            if seen is not None:
                found[function.node] = seen
    for call in module.nodes.calls:
        func = call.func
        if last_word(func) not in telling:
            continue
        seen = _seen(module, func, call.args, call)
        for handed in _handed(module, call) if seen is not None else ():
            found.setdefault(handed, seen)  # type: ignore[arg-type]
    return found


@lru_cache(maxsize=8)
def _imported(module: Module) -> frozenset[str]:
    """Return the names that an import anywhere in the file binds."""
    return frozenset(alias.asname or alias.name for node in module.nodes.imports for alias in node.names)


def _handed(module: Module, call: ast.Call) -> Iterator[ast.AST]:
    """Yield the top-level functions that a call registers: ``lib.impl("f", f, "Meta")``, ``fake("f")(f)``."""
    around = module.parents.get(call)
    outer = around.args if isinstance(around, ast.Call) and around.func is call else []
    for argument in (*call.args, *outer):
        made = module.names.defined_at_top.get(argument.id) if isinstance(argument, ast.Name) else None
        if made is not None:
            yield made.node


def _seen(
    module: Module, named: ast.expr, arguments: Sequence[ast.expr], call: ast.Call | None
) -> DispatchedTensors | None:
    last = last_word(named)
    name = last
    # An attribute keeps its name. Only an import can rename a registering function.
    if isinstance(named, ast.Name) and last in _imported(module):
        meaning = (module.names.meaning(named) or "").rpartition(".")[2]
        name = meaning if meaning in _NAMES else last
    if name in _FAKE:
        return DispatchedTensors.FAKE
    if name in _REAL:
        return DispatchedTensors.REAL
    if name != "impl" or call is None:
        return None
    values = (*arguments, *(one.value for one in call.keywords if one.arg == "dispatch_key"))
    words = [one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    key = words[-1] if len(words) > 1 else None
    if key is None:
        return None
    return DispatchedTensors.FAKE if key in _FAKE_KEYS or key.startswith("Autograd") else DispatchedTensors.REAL
