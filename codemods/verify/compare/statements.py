"""Statements that a change of a Python file touches: they must be started before its lines count as run."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from types import CodeType

from ...harness.torch_variant import Touched
from ...system.python_parser import shared_tree
from ..change import Change
from .line_coverage import changed_lines, follows_lost

_SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def touched(change: Change) -> Touched:
    """Return each changed line of the text after that contains code, with the lines of its statement.

    A function's header counts as run when its body is. For removed lines, the code above and below must be run. Return
    an empty tuple for text that Python can't compile. Unchanged statements under ``if torch.jit.is_scripting():`` are
    TorchScript's and never run.
    """
    try:
        tree = shared_tree(change.after)
        coded = frozenset(_with_code(compile(change.after, str(change.path), "exec", dont_inherit=True)))
    except (SyntaxError, ValueError):
        return ()
    speaking = _speaking(change.after)
    statements = _statements(tree)
    kept = _kept_for_script(tree, change.before) if b"is_scripting" in change.after else ()
    found = []
    for line in changed_lines(change):
        places = [line] if line in speaking and line not in kept else []
        if follows_lost(change, line):
            places += [max((one for one in coded if one < line), default=0), min(filter(line.__le__, coded), default=0)]
        for place in places:
            lines = tuple(number for number in statements.get(place, ()) if number in coded)
            found += [(line, lines)] if lines else []
    return tuple(found)


def _statements(tree: ast.Module) -> dict[int, range]:
    """Return, by line, the lines that show whether the innermost statement on it was started."""
    found: dict[int, range] = {}
    # Outer ones come first.
    for node in ast.walk(tree):
        if isinstance(node, (ast.stmt, ast.ExceptHandler)):
            end = node.end_lineno or node.lineno
            first, telling = node.lineno, node.lineno
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([first, *(decorator.lineno for decorator in node.decorator_list)])
                telling = first if isinstance(node, ast.ClassDef) else node.body[0].lineno
            found |= dict.fromkeys(range(first, end + 1), range(telling, end + 1))
    return found


def _kept_for_script(tree: ast.Module, before: bytes) -> frozenset[int]:
    """Return the lines of TorchScript-only statements that the function of the same name already contained."""
    held: dict[str, set[str]] = {}
    try:
        past = shared_tree(before)
    except (SyntaxError, ValueError):
        return frozenset()
    for function in _functions(past):
        held.setdefault(function.name, set()).update(ast.dump(one) for one in ast.walk(function))
    kept: set[int] = set()
    for function in _functions(tree):
        for node in ast.walk(function):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "torch.jit.is_scripting()":
                for one in node.body:
                    if ast.dump(one) in held.get(function.name, ()):
                        kept.update(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    return frozenset(kept)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (one for one in ast.walk(tree) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _with_code(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_code(constant)


def _speaking(content: bytes) -> frozenset[int]:
    """Return the lines that contain more than a comment."""
    tokens = tokenize.tokenize(io.BytesIO(content).readline)
    return frozenset(
        line for token in tokens if token.type not in _SILENT for line in range(token.start[0], token.end[0] + 1)
    )
