"""The lists of expected failures in a Python file: their entries, and the tests of each entry."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...system.python_parser import parse_module

_KINDS = ("xfail", "skip")
_JOINING = ("union", "update", "add", "set", "frozenset")
_CONDITIONS = (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class XfailEntry:
    """One ``xfail(...)`` or ``skip(...)``. ``start:end`` are the bytes of the call, and lines count from 1.

    ``device`` and ``dtypes`` are its limits, None for no limit. ``unclear`` is the reason why it can't be judged.
    """

    kind: str
    operator: str
    variant: str
    device: str | None
    dtypes: tuple[str, ...] | None
    list: str
    """Name of the list, or of the test that the entry decorates."""
    tests: tuple[str, ...]
    """Tests of this file to which the entry applies."""
    line: int
    start: int
    end: int
    unclear: str = ""

    @property
    def name(self) -> str:
        """Return the operator with its variant (``linalg.lstsq.grad_oriented``)."""
        return f"{self.operator}.{self.variant}" if self.variant else self.operator


@dataclass
class _Flow:
    """Dataflow between the names of lists, and from names to the tests that use them."""

    into: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    tests: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def tests_of(self, name: str) -> tuple[str, ...]:
        seen: set[str] = set()
        left = [name]
        while left:
            one = left.pop()
            if one not in seen:
                seen.add(one)
                left += self.into[one]
        return tuple(sorted({test for one in seen for test in self.tests[one]}))


def read(content: bytes) -> tuple[XfailEntry, ...]:
    """Return the entries in the order of the text. Raises SyntaxError."""
    tree = parse_module(content)
    starts = line_starts(content)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    flow = _flow(tree)
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in _KINDS and isinstance(parents[node], (ast.Set, ast.List)):
            name, tests, unclear = _home(node, parents, flow)
            found.append(_entry(node, starts, name, tests, unclear))
    return tuple(sorted(found, key=lambda entry: entry.start))


def called(node: ast.Call) -> str:
    """Return the last name of the called function."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def line_starts(content: bytes) -> list[int]:
    """Return the byte offset of each line's start, and of the end of the text."""
    return [0, *(found.end() for found in re.finditer(rb"\r\n|\r|\n", content)), len(content)]


def _entry(node: ast.Call, starts: list[int], name: str, tests: tuple[str, ...], unclear: str) -> XfailEntry:
    start = starts[node.lineno - 1] + node.col_offset
    end = starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
    words = [value.value if isinstance(value, ast.Constant) else None for value in node.args]
    named = {word.arg: word.value for word in node.keywords}
    for key, at in (("op_name", 0), ("variant_name", 1)):
        value = named.pop(key, None)
        if value is not None and len(words) == at:
            words.append(value.value if isinstance(value, ast.Constant) else None)
    plain = [word for word in words if isinstance(word, str)]
    if len(plain) != len(words) or not 1 <= len(words) <= 2 or set(named) - {"device_type", "dtypes"}:
        unclear = unclear or "its arguments are no plain words"
    device, dtypes = None, None
    if (value := named.get("device_type")) is not None and ast.unparse(value) != "None":
        device = str(value.value) if isinstance(value, ast.Constant) else ast.unparse(value)
    if (value := named.get("dtypes")) is not None and ast.unparse(value) != "None":
        dtypes = _dtypes(value)
        if not dtypes:
            unclear = unclear or "its dtypes are not written out"
    operator, variant = ([*plain, "", ""])[:2]
    return XfailEntry(called(node), operator, variant, device, dtypes, name, tests, node.lineno, start, end, unclear)


def _dtypes(value: ast.expr) -> tuple[str, ...]:
    elements = value.elts if isinstance(value, (ast.Tuple, ast.List, ast.Set)) else []
    names = [element.attr for element in elements if isinstance(element, ast.Attribute)]
    return tuple(names) if len(names) == len(elements) else ()


def _home(node: ast.Call, parents: dict[ast.AST, ast.AST], flow: _Flow) -> tuple[str, tuple[str, ...], str]:
    """Return the list that contains an entry, its tests, and the reason if they are unclear."""
    at: ast.AST = node
    while not isinstance(at, ast.stmt):
        at = parents[at]
    statement = at
    unclear = ""
    above = parents[statement]
    while not isinstance(above, ast.Module):
        if isinstance(above, _CONDITIONS):
            unclear = "it stands under a condition"
        above = parents[above]
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return statement.name, (statement.name,), unclear
    targets = _targets(statement)
    if len(targets) != 1:
        return "", (), unclear or "it belongs to no list with a name"
    return targets[0], flow.tests_of(targets[0]), unclear


def _targets(statement: ast.stmt) -> list[str]:
    """Return the names that a statement assigns or adds sets to."""
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        return [statement.target.id] if isinstance(statement.target, ast.Name) else []
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        if isinstance(function, ast.Attribute) and function.attr in ("update", "add"):
            return [function.value.id] if isinstance(function.value, ast.Name) else []
    return []


def _flow(tree: ast.Module) -> _Flow:
    flow = _Flow()
    functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                for name in _names(decorator):
                    flow.tests[name].add(node.name)
        elif isinstance(node, ast.stmt):
            for target in _targets(node):
                for name in _names(getattr(node, "value", None)):
                    if name != target:
                        flow.into[name].add(target)
        if isinstance(node, ast.Call) and called(node) not in (*_KINDS, *_JOINING):
            words = {str(word.value) for word in node.args if isinstance(word, ast.Constant)} & functions
            for name in _names(node) if words else ():
                flow.tests[name] |= words
    return flow


def _names(node: ast.AST | None) -> Iterator[str]:
    if node is not None:
        yield from (child.id for child in ast.walk(node) if isinstance(child, ast.Name))
