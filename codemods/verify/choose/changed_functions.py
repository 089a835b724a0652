"""Changed functions of a Python file, and the operators that their decorators, names and callers mention."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from ...system.python_parser import shared_tree

_PREFIXES = ("meta_", "_meta_", "_", "sym_")

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_Scope = ast.Module | ast.ClassDef | Definition


@dataclass(frozen=True)
class ChangedFunction:
    """Function of the text before: ``outer.inner``, and its first line, decorators included."""

    qualname: str
    line: int

    @property
    def name(self) -> str:
        """Return the name of its code object."""
        return self.qualname.rpartition(".")[2]

    @property
    def key(self) -> str:
        return f"{self.name}:{self.line}"


@lru_cache(maxsize=16)
def changed_functions(before: bytes, after: bytes) -> tuple[ChangedFunction, ...]:
    """Return the innermost functions of ``before`` whose own text differs in ``after``, or that are gone.

    A changed statement outside all functions, other than an import, counts for the functions that mention a name it
    binds. New functions count through their callers, which have changed too.
    """
    old, new = _definitions(before), _definitions(after)
    changed = {key for key, definition in old.items() if key not in new or _own_text(definition) != _own_text(new[key])}
    if rebound := _rebound(before, after):
        changed |= {key for key, definition in old.items() if _mentions(definition) & rebound}
    return tuple(sorted((_function(key, old[key]) for key in changed), key=lambda function: function.line))


def changed_callables(text: bytes, other: bytes) -> tuple[ChangedFunction, ...]:
    """Return the functions and methods of ``text`` whose text, or that of a nested function, differs in ``other``."""
    changed = (one.qualname.split(".") for one in changed_functions(text, other))
    names = {prefix for parts in changed for prefix in accumulate(parts, _dotted)}
    found = (_function(key, definition) for key, definition in _definitions(text).items() if key[0] in names)
    return tuple(sorted(found, key=lambda function: function.line))


def _dotted(outer: str, name: str) -> str:
    return f"{outer}.{name}"


def lines_of(qualnames: frozenset[str], text: bytes) -> frozenset[int]:
    """Return the lines of these functions of ``text``, counted from 1."""
    found = (definition for (name, _), definition in _definitions(text).items() if name in qualnames)
    return frozenset(line for one in found for line in range(one.lineno, (one.end_lineno or one.lineno) + 1))


def operators_named(function: ChangedFunction, text: bytes) -> frozenset[str]:
    """Return the operators that ``function`` of ``text``, or a caller in the same file, may implement.

    They come from decorators and names. A name is a guess until a test of that name exists.
    """
    functions = _outermost(text)
    outer = next((part for part in function.qualname.split(".") if part in functions), None)
    served = {outer} if outer else set()
    mentions = {name: _mentions(node) for name, node in functions.items()}
    while True:
        callers = {name for name, words in mentions.items() if name not in served and words & served}
        if not callers:
            break
        served |= callers
    return frozenset(word for name in served for word in _operators(name, functions[name]))


_Key = tuple[str, int]
"""Qualified name, and the index among the definitions of that name, since a file may define it twice."""


def _function(key: _Key, definition: Definition) -> ChangedFunction:
    return ChangedFunction(key[0], min([definition.lineno, *(item.lineno for item in definition.decorator_list)]))


def _definitions(content: bytes) -> dict[_Key, Definition]:
    found: dict[_Key, Definition] = {}

    def visit(node: ast.AST, around: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (Definition, ast.ClassDef)):
                qualname = f"{around}{child.name}"
                if isinstance(child, Definition):
                    number = sum(name == qualname for name, _ in found)
                    found[qualname, number] = child
                visit(child, f"{qualname}.")
            else:
                visit(child, around)

    visit(shared_tree(content), "")
    return found


def _own_text(definition: Definition) -> str:
    """Return the text of the function itself, with nested functions reduced to their names."""
    return "\n".join(_shallow(node) for node in ast.iter_child_nodes(definition))


def _shallow(node: ast.AST) -> str:
    if isinstance(node, Definition):
        return f"def {node.name}"
    inner = [child for child in ast.walk(node) if child is not node and isinstance(child, Definition)]
    if not inner:
        return ast.dump(node)
    return f"{type(node).__name__}({', '.join(_shallow(child) for child in ast.iter_child_nodes(node))})"


def _rebound(before: bytes, after: bytes) -> frozenset[str]:
    """Return the names that statements outside functions bind differently than before."""
    old, new = ({ast.dump(item): item for item in _statements(shared_tree(content))} for content in (before, after))
    return frozenset(
        node.id
        for text in old.keys() ^ new.keys()
        for node in ast.walk(old.get(text) or new[text])
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )


def _statements(scope: ast.AST) -> Iterator[ast.stmt]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.ClassDef, ast.If, ast.Try, ast.With, ast.ExceptHandler)):
            yield from _statements(node)
        elif isinstance(node, ast.stmt) and not isinstance(node, (*_DEFINITIONS, ast.Import, ast.ImportFrom)):
            yield node


_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _outermost(content: bytes) -> dict[str, Definition]:
    """Return module functions and methods by name. A nested function belongs to its outer function."""
    found: dict[str, Definition] = {}
    pending: list[ast.stmt] = list(shared_tree(content).body)
    while pending:
        statement = pending.pop()
        if isinstance(statement, Definition):
            found[statement.name] = statement
        elif isinstance(statement, (ast.ClassDef, ast.If, ast.Try)):
            pending += statement.body
            pending += getattr(statement, "orelse", [])
    return found


def _mentions(function: Definition) -> set[str]:
    nodes = list(ast.walk(function))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}


def _operators(name: str, function: Definition) -> Iterator[str]:
    for decorator in function.decorator_list:
        for node in ast.walk(decorator):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "aten":
                yield node.attr
    yield name
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            yield name.removeprefix(prefix)
