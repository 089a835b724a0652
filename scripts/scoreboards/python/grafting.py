"""Function bodies of an older release, inserted into a newer release's module."""

from __future__ import annotations

import ast
import builtins
import copy
import difflib
from dataclasses import dataclass, field

from .replay import functions

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Graft:
    """A module of the newer release with older bodies, before and after their rewrite."""

    file: str
    module: str
    before: str
    after: str
    functions: set[str] = field(default_factory=set)
    left: dict[str, str] = field(default_factory=dict)
    """Functions that were not inserted, with the reasons."""

    def text(self, label: str) -> str:
        return self.before if label == "before" else self.after

    def changed_lines(self, label: str) -> list[int]:
        """Return the lines, from 1, in which the two texts differ, without import lines."""
        old, new = self.before.splitlines(), self.after.splitlines()
        mine = new if label == "after" else old
        found = []
        for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                span = range(j1, j2) if label == "after" else range(i1, i2)
                found += [
                    n + 1 for n in span if mine[n].strip() and not mine[n].lstrip().startswith(("from ", "import "))
                ]
        return found


def graft(file: str, module: str, installed: str, before: str, after: str) -> Graft:
    """Insert the outermost functions that differ between ``before`` and ``after`` into ``installed``, if they fit."""
    result = Graft(file, module, installed, installed)
    here = functions(ast.parse(installed))
    old, new = functions(ast.parse(before)), functions(ast.parse(after))
    names = _bound(ast.parse(installed))
    for name, function in old.items():
        inner = any(name.startswith(other + ".") and isinstance(old.get(other), _Function) for other in old)
        if inner or name not in new or ast.dump(function) == ast.dump(new[name]):
            continue
        if name not in here:
            result.left[name] = "the installed torch has no such function"
        elif _arguments(here[name]) != _arguments(function):
            result.left[name] = "its arguments are others today"
        else:
            result.functions.add(name)
    for label, source, found in (("before", before, old), ("after", after, new)):
        lines = installed.splitlines(keepends=True)
        for name in sorted(result.functions, key=lambda name: -here[name].lineno):
            target, body = here[name].body, found[name].body
            first, last = _span(body)
            start, end = _span(target)
            lines[start - 1 : end] = source.splitlines(keepends=True)[first - 1 : last]
        needed = _needed(source, [found[name] for name in sorted(result.functions)], names)
        text = "".join(lines) + "".join(needed if label == "after" else map(_if_there, needed))
        setattr(result, label, text)
    return result


def _span(body: list[ast.stmt]) -> tuple[int, int]:
    """Return first and last line of a body."""
    return body[0].lineno, body[-1].end_lineno or body[-1].lineno


def _arguments(function: _Function) -> list[str]:
    spec = function.args
    return [one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]


def _needed(source: str, grafted: list[_Function], names: set[str]) -> list[str]:
    """Return imports and definitions of ``source`` that the bodies need and the newer module lacks."""
    found: dict[str, str] = {}
    have = names | set(dir(builtins))
    pending: list[ast.AST] = list(grafted)
    tree = ast.parse(source)
    while pending:
        node = pending.pop()
        for name in {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} - have - set(found):
            for statement in tree.body:
                if name in _bound(ast.Module([statement], [])):
                    found[name] = ast.unparse(_unregistered(statement)) + "\n"
                    pending.append(statement)
                    break
    # Dependencies of a definition were found after it, and imports come first.
    needed = list(dict.fromkeys(found.values()))[::-1]
    lines = sorted(needed, key=lambda line: not _imports(line))
    return ["\n\n", *lines] if lines else []


def _if_there(line: str) -> str:
    """Let an import of the older text fail only when its name is used, since the newer torch may lack the module."""
    return f"try:\n    {line}except ImportError:\n    pass\n" if _imports(line) else line


def _imports(line: str) -> bool:
    return line.startswith(("from ", "import "))


def _unregistered(statement: ast.stmt) -> ast.stmt:
    """Strip registering decorators from a helper: the newer torch registers its own under another name."""
    if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return statement
    kept = [one for one in statement.decorator_list if not ast.unparse(one).startswith("register_")]
    bare = copy.copy(statement)
    bare.decorator_list = kept
    return bare


def _bound(tree: ast.Module) -> set[str]:
    """Return the names that the statements of a module bind."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return found
