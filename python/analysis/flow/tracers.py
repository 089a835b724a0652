"""Tracers that reach a function, and the evidence that any of them does.

FakeTensor and ``make_fx`` run a function as Python. Dynamo (``torch.compile``, strict export) reads its bytecode, and
rejects some calls that Python accepts. Both count unless dynamo is proven to stay away.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from ....codemods.model.rule import Context
from ....codemods.torchapi.api import TorchApi
from ...syntax.module import Module
from ...syntax.tree import FunctionDefinition
from .calls import calls_in
from .dispatch_kind import DispatchedTensors, registered
from .scriptable import refused_by_script

_COMPILERS = ("torch.compile", "torch.export.export")


def is_faked(module: Module, function: FunctionDefinition | None, api: TorchApi) -> bool:
    """Return whether only FakeTensor and ``make_fx`` trace a function.

    They trace functions that are registered as fake kernels or decompositions. They also trace PyTorch's private
    packages, which contain its meta functions, decompositions and references, and functions that
    neither dynamo inlines nor TorchScript compiles.
    """
    if function is not None and registered(module, function) is DispatchedTensors.FAKE:
        return True
    name = module.torch_name
    return name.startswith("torch._") or (
        module.own_tree and not api.is_inlined(name) and not _may_script(module, function)
    )


def is_kept_in_graph(module: Module, function: FunctionDefinition | None, api: TorchApi) -> bool:
    """Return whether dynamo keeps the calls of a function of torch in its graph, and runs them on fake tensors.

    A private function is kept if only such functions use it, and they only call it.
    """
    if function is None or not module.own_tree:
        return False
    pending, seen = [function.outermost], set[FunctionDefinition]()
    kept = False
    while pending:
        outer = pending.pop()
        seen.add(outer)
        name = f"{module.torch_name}.{outer.qualname}"
        if api.is_kept_in_graph(name):
            kept = True
            continue
        callers = _callers(module).get(outer)
        private = outer.node.name.startswith("_") and not outer.around
        if not private or not callers or None in callers or api.is_named_elsewhere(name):
            return False
        pending += [one for one in callers if one is not None and one not in seen]
    return kept


@lru_cache(maxsize=8)
def _callers(module: Module) -> dict[FunctionDefinition, set[FunctionDefinition | None]]:
    """Return the callers of each function. None is a caller that is unknown, since the function is read as a value."""
    calls = calls_in(module)
    found: dict[FunctionDefinition, set[FunctionDefinition | None]] = defaultdict(set)
    called = set()
    for call in module.nodes.calls:
        called.add(call.func)
        caller = module.function_of(call)
        for callee in calls.callees(call.func):
            found[callee.outermost].add(caller and caller.outermost)
    names = (one for one in ast.walk(module.tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load))
    values = {one.id for one in names if one not in called}
    for function in module.functions:
        if function.node.name in values:
            found[function].add(None)
    return found


def _may_script(module: Module, function: FunctionDefinition | None) -> bool:
    """Return whether TorchScript may compile a function, which takes no check whose message is a lambda."""
    return function is not None and not refused_by_script(module, function)


def is_traced(module: Module, function: FunctionDefinition | None, context: Context) -> bool:
    """Return whether there is evidence that any tracer reaches a function.

    Evidence is PyTorch's own tree, the user's options, a registration, ``torch.compile``, and with ``context.modules``
    the ``forward`` of a module. A function that such a function of the same file calls is reached too.
    """
    if module.own_tree or context.all_functions or context.tried:
        return True
    return function is not None and function.outermost in _reached(module, context.modules)


@lru_cache(maxsize=8)
def _reached(module: Module, modules: bool) -> frozenset[FunctionDefinition]:
    calls = calls_in(module)
    found: set[FunctionDefinition] = set()
    pending = list(_entries(module, modules))
    while pending:
        function = pending.pop()
        if function in found:
            continue
        found.add(function)
        inner = [one for one in module.functions if one.outermost is function]
        called = (callee for one in inner for call in one.nodes.calls for callee in calls.callees(call.func))
        pending += [callee.outermost for callee in called]
    return frozenset(found)


def _entries(module: Module, modules: bool) -> Iterator[FunctionDefinition]:
    compiled = set(_compiled(module))
    for function in module.functions:
        if function.outer is None and (
            registered(module, function) is DispatchedTensors.FAKE
            or function.node.name in compiled
            or any(_compiles(module, decorator) for decorator in function.node.decorator_list)
            or (modules and _is_forward(module, function))
        ):
            yield function


def _compiled(module: Module) -> Iterator[str]:
    """Yield the names of functions that the file passes to a compiler."""
    if b"torch.compile(" not in module.source.content and b"export(" not in module.source.content:
        return
    for call in module.nodes.calls:
        if call.args and isinstance(call.args[0], ast.Name) and module.names.meaning(call.func) in _COMPILERS:
            yield call.args[0].id


def _compiles(module: Module, decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    return module.names.meaning(named) in _COMPILERS


def _is_forward(module: Module, function: FunctionDefinition) -> bool:
    """Return whether it is the ``forward`` of a possible module: a class with bases that are no autograd functions."""
    around = function.around[0] if function.around else None
    if function.node.name != "forward" or not isinstance(around, ast.ClassDef):
        return False
    bases = [module.names.meaning(base) or "" for base in around.bases]
    return bool(bases) and not any(base.endswith("autograd.Function") for base in bases)
