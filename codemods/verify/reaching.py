"""Which operators a changed Python function of torch serves, by its decorators, its name and its callers."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_PREFIXES = ("meta_", "_meta_", "_", "sym_")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def operators_served(before: bytes, after: bytes) -> frozenset[str]:
    """Names of operators that may run a function that differs between the two texts of one module.

    A helper serves what its callers in the module serve. Names are guesses until a test of that name exists.
    """
    old, new = _functions(before), _functions(after)
    changed = {name for name, function in new.items() if name not in old or _text(old[name]) != _text(function)}
    served = set(changed)
    while True:
        callers = {name for name, function in new.items() if name not in served and _mentions(function) & served}
        if not callers:
            break
        served |= callers
    return frozenset(word for name in served for word in _operators(name, new[name]))


def _functions(content: bytes) -> dict[str, Function]:
    """Module functions and methods by name; what is nested belongs to the function around it."""
    found: dict[str, Function] = {}
    pending: list[ast.stmt] = list(ast.parse(content).body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, Function):
            found[statement.name] = statement
        elif isinstance(statement, (ast.ClassDef, ast.If, ast.Try)):
            pending += statement.body
            pending += getattr(statement, "orelse", [])
    return found


def _text(function: Function) -> str:
    return ast.dump(function)


def _mentions(function: Function) -> set[str]:
    names = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    return names | {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}


def _operators(name: str, function: Function) -> Iterator[str]:
    for decorator in function.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "aten":
                yield node.attr
    yield name
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            yield name.removeprefix(prefix)
