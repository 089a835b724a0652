"""Python functions that compute the shape of an operator's result, and the arguments that become a size in them."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from ...codemods.system.python_parser import parse_module

FILES = (Path("torch/_meta_registrations.py"), Path("torch/_decomp/decompositions.py"), Path("torch/_refs/__init__.py"))
_REGISTERS = frozenset({"register_meta", "register_decomposition", "impl"})
_SIZED = frozenset(
    {
        "new_empty", "new_zeros", "new_ones", "new_full", "empty", "zeros", "ones", "full", "expand", "view", "reshape",
        "new_empty_strided", "empty_strided", "resize_",
    }
)  # fmt: skip
"""Calls whose first argument is a shape."""
_VARIADIC = frozenset({"expand", "view", "reshape"})
"""Calls among them whose further arguments belong to the shape."""


@lru_cache(maxsize=2)
def sizes_in_metas(root: Path) -> Mapping[tuple[str, str], str]:
    """Return where an argument becomes part of a shape, by operator (with or without its overload) and argument."""
    found: dict[tuple[str, str], str] = {}
    for path in FILES:
        if not (root / path).is_file():
            continue
        module = _Module(parse_module((root / path).read_bytes()))
        for function in module.functions:
            names = list(_registered(function))
            for argument, line in module.sizes(function) if names else ():
                for name in names:
                    found.setdefault((name, argument), f"{path}:{line} makes a shape of it")
    return found


def _registered(function: ast.FunctionDef) -> Iterator[str]:
    """Yield ``f`` or ``f.overload`` for each operator that a decorator registers the function for."""
    for decorator in function.decorator_list:
        if not isinstance(decorator, ast.Call) or _last(decorator.func) not in _REGISTERS:
            continue
        for node in ast.walk(decorator):
            parts = ast.unparse(node).split(".") if isinstance(node, ast.Attribute) else []
            if "aten" in parts and parts.index("aten") < len(parts) - 1:
                name, *overload = parts[parts.index("aten") + 1 :]
                yield f"{name}.{overload[0]}" if overload and overload[0] != "default" else name


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


class _Module:
    """Functions of a file, with the dataflow from their parameters to shapes and return values."""

    def __init__(self, tree: ast.Module) -> None:
        self.functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        names = Counter(function.name for function in self.functions)
        self._named = {function.name: function for function in self.functions if names[function.name] == 1}
        self._returned: dict[str, frozenset[str]] = {}

    def sizes(self, function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
        """Yield the parameters whose values reach a shape, with the line."""
        for parameter in _parameters(function):
            carried = self._carried(function, parameter)
            for node in ast.walk(function) if carried else ():
                if isinstance(node, ast.Call) and _last(node.func) in _SIZED and node.args:
                    sized = node.args if _last(node.func) in _VARIADIC else node.args[:1]
                    if any(self._names(value) & carried for value in sized):
                        yield parameter, node.lineno
                        break

    def _carried(self, function: ast.FunctionDef, parameter: str) -> set[str]:
        """Return the names that contain the value of a parameter, none if the parameter selects a dimension."""
        if parameter in _selecting(function):
            return set()
        carried: set[str] = set()
        more = {parameter}
        stores = [store for node in _own(function) for store in _stores(node)]
        while more - carried:
            carried |= more
            for target, value in stores:
                if self._names(value) & carried:
                    more |= set(_stored(target))
        return carried

    def _names(self, node: ast.expr) -> set[str]:
        """Return the names whose values flow into the value of an expression, without indices and conditions."""
        if isinstance(node, ast.Name):
            return {node.id}
        if isinstance(node, ast.Subscript):
            return self._names(node.value)
        if isinstance(node, ast.IfExp):
            return self._names(node.body) | self._names(node.orelse)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            return self._names(node.elt)
        if isinstance(node, (ast.Compare, ast.Lambda)):
            return set()
        parts: list[ast.expr] = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if isinstance(node, ast.Call):
            parts = self._given(node)
        return set().union(*map(self._names, parts))

    def _given(self, call: ast.Call) -> list[ast.expr]:
        """Return the arguments of a call that flow into its result."""
        if not isinstance(call.func, ast.Name):
            return []
        if call.func.id in ("list", "tuple"):
            return call.args
        function = self._named.get(call.func.id)
        if function is None or any(isinstance(value, ast.Starred) for value in call.args):
            return []
        returned = self._of_result(function)
        by_place = zip(_parameters(function), call.args, strict=False)
        by_name = ((word.arg, word.value) for word in call.keywords)
        return [value for name, value in (*by_place, *by_name) if name in returned]

    def _of_result(self, function: ast.FunctionDef) -> frozenset[str]:
        """Return the parameters that flow into a function's result, none inside of its own recursion."""
        if function.name not in self._returned:
            self._returned[function.name] = frozenset()
            values = [node.value for node in _own(function) if isinstance(node, ast.Return) and node.value is not None]
            self._returned[function.name] = frozenset(
                parameter
                for parameter in _parameters(function)
                if (carried := self._carried(function, parameter))
                and any(self._names(value) & carried for value in values)
            )
        return self._returned[function.name]


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function, except those inside of nested functions and classes."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [one.arg for one in (*function.args.args, *function.args.kwonlyargs)]


def _stores(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each target that a statement or a call changes, with the stored value."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield target, node.value
    elif isinstance(node, ast.AugAssign):
        yield node.target, node.value
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
        for value in node.args:
            yield node.func.value, value


@lru_cache(maxsize=4096)
def _selecting(function: ast.FunctionDef) -> frozenset[str]:
    """Return the names by which a function selects a dimension: in an index, by the keyword ``dim``, when wrapped."""
    found: set[str] = set()
    for node in ast.walk(function):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            parts = [node.slice]
        elif isinstance(node, ast.Call):
            wraps = "canonicalize_dim" in _last(node.func) or "wrap_dim" in _last(node.func)
            parts = [word.value for word in node.keywords if word.arg in ("dim", "dims")]
            parts += node.args if wraps else []
        found |= {inner.id for part in parts for inner in ast.walk(part) if isinstance(inner, ast.Name)}
    return frozenset(found)


def _stored(target: ast.expr) -> Iterator[str]:
    """Yield the names that an assignment changes: for ``s[i] = n`` the list, not the index."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for inner in target.elts:
            yield from _stored(inner)
    elif isinstance(target, ast.Subscript):
        yield from _stored(target.value)
