"""Python evidence that an operator's integer arguments are sizes: fake kernels and callers."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ....codemods.system.python_parser import parse_module
from ....codemods.torchapi import TorchApi
from ...syntax.project import Project, faked_operators

_SIZES = frozenset({"shape", "size", "numel", "sym_size"})


@dataclass(frozen=True)
class _PythonSide:
    """The fake kernels and the calls of a project's operators, by ``ns::name``, each with its file."""

    fakes: dict[str, list[tuple[str, ast.FunctionDef]]]
    calls: dict[str, list[tuple[str, ast.Call]]]


def python_evidence(project: Project, api: TorchApi, operator: str, place: int) -> Iterator[str]:
    """Yield a sentence for each fake kernel that computes a shape from an argument, and each caller that passes a size.

    ``operator`` is ``ns::name``, without overload. ``place`` is the 0-based position of the argument.
    """
    if project.root is None:
        return
    side = _python_side(project.root, project.callers)
    for file, function in side.fakes.get(operator, ()):
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        if place < len(names) and _shapes(function, names[place], api):
            yield f"the fake kernel computes a shape from it, {file}:{function.lineno}"
    for file, call in side.calls.get(operator, ()):
        if place < len(call.args) and _is_size(call.args[place]):
            yield f"a caller passes {ast.unparse(call.args[place])}, {file}:{call.lineno}"


@lru_cache(maxsize=4)
def _python_side(root: Path, files: Sequence[str]) -> _PythonSide:
    fakes: dict[str, list[tuple[str, ast.FunctionDef]]] = defaultdict(list)
    calls: dict[str, list[tuple[str, ast.Call]]] = defaultdict(list)
    for file in files:
        try:
            tree = parse_module((root / file).read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                for operator in faked_operators(node):
                    fakes[operator].append((file, node))
            elif isinstance(node, ast.Call) and (called := _called(node.func)):
                calls[called].append((file, node))
    return _PythonSide(fakes, calls)


def _called(function: ast.expr) -> str:
    """Return ``ns::name`` for ``torch.ops.ns.name`` and ``torch.ops.ns.name.overload``, or an empty string."""
    parts: list[str] = []
    while isinstance(function, ast.Attribute):
        parts.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return ""
    words = [function.id, *reversed(parts)]
    return f"{words[2]}::{words[3]}" if words[:2] == ["torch", "ops"] and len(words) > 3 else ""


def _shapes(function: ast.FunctionDef, name: str, api: TorchApi) -> bool:
    """Return whether a parameter, or a value computed from it, is passed to a torch operator as a SymInt."""
    names = _computed(function, name)
    calls = (one for one in ast.walk(function) if isinstance(one, ast.Call))
    return any(_names(value, names) for call in calls for value in _symbolic_arguments(call, api))


def _computed(function: ast.FunctionDef, name: str) -> set[str]:
    """Return the names of values computed from a parameter, including the parameter."""
    names = {name}
    assigned = [one for one in ast.walk(function) if isinstance(one, ast.Assign)]
    while True:
        more = {
            target.id
            for one in assigned
            if isinstance(one.value, (ast.Name, ast.BinOp)) and _names(one.value, names)
            for target in one.targets
            if isinstance(target, ast.Name)
        } - names
        if not more:
            return names
        names |= more


def _symbolic_arguments(call: ast.Call, api: TorchApi) -> Iterator[ast.expr]:
    """Yield the arguments of a call that an operator of its name takes as SymInts."""
    if not isinstance(call.func, ast.Attribute):
        return
    free = isinstance(call.func.value, ast.Name) and call.func.value.id == "torch"
    operators = api.functions(call.func.attr) if free else api.methods(call.func.attr)
    taken = [one.arguments if free else one.method_arguments for one in operators if one.symbolic]
    for place, value in enumerate(call.args):
        own = [arguments[place] for arguments in taken if place < len(arguments)]
        spread = any(arguments and arguments[0].type.startswith("SymInt[") for arguments in taken)
        if any(one.symbolic for one in own) or (spread and not isinstance(call.args[0], (ast.Tuple, ast.List))):
            yield value
    for keyword in call.keywords:
        if any(one.name == keyword.arg and one.symbolic for arguments in taken for one in arguments):
            yield keyword.value


def _names(value: ast.expr, names: set[str]) -> bool:
    """Return whether a value, or an element of a tuple or list, is computed from one of these names."""
    return any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(value))


def _is_size(value: ast.expr) -> bool:
    """Return whether a value is ``x.shape[0]``, ``x.size(1)`` or ``x.numel()``, or is computed from one of these."""
    return any(isinstance(one, ast.Attribute) and one.attr in _SIZES for one in ast.walk(value))
