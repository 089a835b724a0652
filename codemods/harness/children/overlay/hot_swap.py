"""Hot swap of imported modules: each function gets the code that it has in the changed text.

Processes forked from one that has imported torch need this. The functions stay the same objects, so all references to
them run the new code, imports, wrappers and tables included. The import neither ran a changed function nor read its
text, so the changed text would have imported in the same way. The process is equivalent to one started with the changed
text.
"""

from __future__ import annotations

import ast
import gc
import inspect
import linecache
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from .import_hooks import Used

_FUTURE = 0x1FF0000
"""Bits of a code object's flags that ``from __future__`` sets."""
_Definition = (ast.FunctionDef, ast.AsyncFunctionDef)
_Import = (ast.Import, ast.ImportFrom)
_TABLE = "register_decomposition"
"""Part of the name of a decorator that enters a function in a table and returns it, as ``py_impl`` of an operator
does."""


class TooDeep(Exception):
    """Error raised when a change needs a fresh import. ``str()`` is the part that is not a function body."""


def exchange(modules: Mapping[str, str], used: Used | None) -> None:
    """Replace the code of each imported module, by name, with that of the given file. Raises TooDeep.

    ``used`` records what the import of these modules, and of all their importers, ran and read.
    """
    if not modules:
        return
    if used is None:
        raise TooDeep("what the import ran was not noted")
    if sys.version_info < (3, 11):
        raise TooDeep("before Python 3.11 a code does not tell which function it is of")
    changes = []
    for name, file in modules.items():
        module = sys.modules.get(name)
        if module is None or not module.__file__:
            raise TooDeep(f"{name} is not imported from a file")
        changes.append((module, Path(file).read_text(encoding="utf-8")))
    living = _living({str(module.__file__) for module, _ in changes})
    for module, after in changes:
        path = str(module.__file__)
        _exchange(vars(module), path, Path(path).read_text(encoding="utf-8"), after, living[path], used)


def exchange_files(files: Mapping[str, str]) -> list[dict[str, Any]]:
    """Replace the code of the live functions of each file with that of the given file, and return their namespaces.

    This is weaker than `exchange`: an existing object, such as a model, keeps the values that the old text gave it.
    Raises TooDeep.
    """
    living = _living(set(files))
    spaces = []
    for path, file in files.items():
        found = {id(one.__globals__): one.__globals__ for one in living[path]}
        if len(found) != 1:
            raise TooDeep(f"{Path(path).name} was imported {len(found)} times")
        (space,) = found.values()
        before, after = (Path(one).read_text(encoding="utf-8") for one in (path, file))
        _exchange(space, path, before, after, living[path], Used(), strict=False)
        spaces.append(space)
    return spaces


def _exchange(
    space: dict[str, Any],
    path: str,
    before: str,
    after: str,
    living: Sequence[FunctionType],
    used: Used,
    *,
    strict: bool = True,
) -> None:
    """Replace the code of the live functions of one file.

    With ``strict``, raise TooDeep if a function can't be identified. Otherwise raise it only if a changed one would
    keep its old code.
    """
    earlier, later = ast.parse(before), ast.parse(after)
    added = list(_added(earlier.body, later.body))
    run_anew = [one for one in added if isinstance(one, ast.stmt)]
    entries = [one for one in added if isinstance(one, _Entry)]
    # A notebook cell inherits the `from __future__` flags of the cells before it.
    future = living[0].__code__.co_flags & _FUTURE if living and not strict else 0
    text = compile(after, path, "exec", flags=future, dont_inherit=True)
    was, now = _codes(compile(before, path, "exec", flags=future, dont_inherit=True)), _codes(text)
    _refuse_other_names(space, earlier, later, run_anew)
    if name := next(_used_and_changed(was, now, used), ""):
        raise TooDeep(f"the import ran or read {name}")
    places = _places(was)
    pairs = []
    for function in living:
        found = places.get(_line(function.__code__), [])
        name, number = next((one for one in found if was[one[0]][one[1]] == function.__code__), (found or [("", 0)])[0])
        old, new = was.get(name, []), now.get(name, [])
        if not found and not strict:
            continue
        if not found or len(old) != len(new):
            raise TooDeep(f"{name or function.__qualname__} can't be told from its neighbours")
        code = new[number]
        if code.co_freevars != function.__code__.co_freevars:
            raise TooDeep(f"{name} has other variables of the functions around it")
        if _called(code) != _called(function.__code__):
            raise TooDeep(f"{name} is called otherwise, which whoever wrapped it may have looked at")
        pairs.append((function, code))
    if not strict:
        _require_reached(was, now, {_line(function.__code__) for function, _ in pairs}, path)
    for entry in entries:
        if not _is_its_own(space.get(entry.function), entry.function, places, was, living):
            raise TooDeep(f"{entry.function} is not what its definition made")
    exec(  # statements that an import of the changed text runs and an import of the old one did not
        compile(ast.Module(run_anew, []), path, "exec", flags=text.co_flags & _FUTURE, dont_inherit=True), space
    )
    for function, code in pairs:
        function.__code__ = code
    for entry in entries:
        enter = eval(compile(ast.Expression(entry.decorator), path, "eval"), space)
        enter(space[entry.function])
    linecache.cache[path] = (len(after.encode()), None, after.splitlines(keepends=True), path)


def _require_reached(
    was: Mapping[str, list[CodeType]], now: Mapping[str, list[CodeType]], reached: set[_Line], path: str
) -> None:
    """Raise TooDeep if neither a changed function nor an enclosing one gets its new code."""
    for name, codes in was.items():
        others = now.get(name, [])
        classes = not any(code.co_flags & inspect.CO_OPTIMIZED for code in codes)
        if classes or (len(codes) == len(others) and all(map(_same, codes, others))):
            continue
        around = name
        while around and not any(_line(code) in reached for code in was.get(around, ())):
            around = around.rpartition(".")[0]
        if not around:
            raise TooDeep(f"no function {name} of {Path(path).name} lives here")


def _same(one: CodeType, other: CodeType) -> bool:
    return _body(one) == _body(other)


def _refuse_other_names(
    space: Mapping[str, Any], before: ast.Module, after: ast.Module, added: Sequence[ast.stmt]
) -> None:
    """Raise TooDeep if an addition could have another meaning at the end of a module than at its own place."""
    were, imports = _imports(before), _imports(after)
    if gone := were.keys() - imports.keys():
        raise TooDeep(f"`{min(gone)}` is gone")
    names = {name for text, name in imports.items() if text not in were}
    names = {name for name in names if not _is_package(space.get(name), name)}
    names |= {one.name for one in added if isinstance(one, _Definition)}
    if others := names & {"*", *space}:
        raise TooDeep(f"{min(others)} has another meaning so far")


def _imports(text: ast.Module) -> dict[str, str]:
    """Return the top-level imports of a module, one name per statement, each with the name that it binds."""
    found = {}
    for one in text.body:
        if isinstance(one, _Import):
            for alias in one.names:
                alone = type(one)(**{**dict(ast.iter_fields(one)), "names": [alias]})
                root = alias.name if isinstance(one, ast.ImportFrom) else alias.name.partition(".")[0]
                found[ast.unparse(alone)] = alias.asname or root
    return found


def _is_package(thing: object, name: str) -> bool:
    """Return whether an object is the module that ``import name.another`` binds to the name."""
    return thing is not None and sys.modules.get(name) is thing


def _called(code: CodeType) -> tuple[object, ...]:
    """Return the call signature of a function, and the flags that mark a generator or a coroutine."""
    return inspect.getargs(code), code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags


def _used_and_changed(
    was: Mapping[str, list[CodeType]], now: Mapping[str, list[CodeType]], used: Used
) -> Iterator[str]:
    """Yield the functions whose code differs in the changed text, and that were run or read before."""
    for name, codes in was.items():
        others = now.get(name, [])
        for number, code in enumerate(codes):
            if used.has(code) and not (len(codes) == len(others) and _same(code, others[number])):
                yield name


def _body(code: CodeType) -> CodeType:
    """Return a code object without its position and nested code objects, which are compared separately."""
    constants = tuple(None if inspect.iscode(one) else one for one in code.co_consts)
    return code.replace(co_consts=constants, co_firstlineno=0, co_linetable=b"")


@dataclass(frozen=True)
class _Entry:
    """Function that only the changed text registers for an operator, by a decorator."""

    function: str
    decorator: ast.expr


def _added(before: Sequence[ast.stmt], after: Sequence[ast.stmt]) -> Iterator[ast.stmt | _Entry]:
    """Yield the imports, functions and entries that only the changed text has, in order.

    Raises TooDeep if anything else differs.
    """
    imports = {ast.dump(one) for one in before if isinstance(one, _Import)}
    left = [one for one in before if not isinstance(one, _Import)]
    known = {one.name for one in before if isinstance(one, _Definition)}
    for one in after:
        if isinstance(one, _Import):
            if ast.dump(one) not in imports:
                yield one
        elif left and _outline(one) == _outline(left[0]):
            left.pop(0)
        elif left and (entries := list(_entries(left[0], one))):
            left.pop(0)
            yield from entries
        elif isinstance(one, _Definition) and one.name not in known:
            yield one
        else:
            raise TooDeep(f"line {one.lineno} is run when the module is imported")
    if left:
        raise TooDeep("a statement that is run when the module is imported is gone")


def _entries(before: ast.stmt, after: ast.stmt) -> Iterator[_Entry]:
    """Yield the entries that only the changed definition has, innermost first, or none if anything else differs.

    Only other table entries may be above them. A decorator that wraps the function is below, and has produced the
    entered object.
    """
    if not isinstance(before, _Definition) or not isinstance(after, _Definition):
        return
    old = {ast.dump(one) for one in before.decorator_list}
    new = [one for one in after.decorator_list if ast.dump(one) not in old]
    above = after.decorator_list[: after.decorator_list.index(new[-1])] if new else []
    kept = [one for one in after.decorator_list if one not in new]
    same = ast.copy_location(type(after)(**{**dict(ast.iter_fields(after)), "decorator_list": kept}), after)
    if _outline(before) == _outline(same) and all(map(_enters, new)) and all(map(_enters, above)):
        yield from (_Entry(after.name, one) for one in reversed(new))


def _enters(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (isinstance(function, ast.Attribute) and function.attr == "py_impl") or _TABLE in ast.unparse(function)


def _is_its_own(
    found: object,
    name: str,
    places: Mapping[_Line, list[tuple[str, int]]],
    codes: Mapping[str, list[CodeType]],
    living: Sequence[FunctionType],
) -> bool:
    """Return whether the object under this name is the function of its only definition, or a wrapper of it."""
    inner = inspect.unwrap(found) if callable(found) else None
    own = next((one for one in living if one is inner), None)
    return own is not None and (name, 0) in places.get(_line(own.__code__), ()) and len(codes[name]) == 1


def _outline(statement: ast.stmt) -> str:
    """Return all that the execution of a top-level or class-level statement depends on, without function bodies."""
    if isinstance(statement, _Definition):
        documented = ast.get_docstring(statement, clean=False)
        parts = (statement.name, statement.args, statement.decorator_list, statement.returns)
        return repr([_told(part) for part in parts] + [documented])
    if isinstance(statement, ast.ClassDef):
        parts_of_class = (statement.name, statement.bases, statement.keywords, statement.decorator_list)
        return repr([_told(part) for part in parts_of_class] + [_outline(one) for one in statement.body])
    return ast.dump(statement)


def _told(part: object) -> object:
    if isinstance(part, list):
        return [_told(one) for one in part]
    return ast.dump(part) if isinstance(part, ast.AST) else part


_Line = tuple[str, int]
"""Name and first line of a function."""


def _line(code: CodeType) -> _Line:
    return code.co_name, code.co_firstlineno


def _places(codes: Mapping[str, list[CodeType]]) -> dict[_Line, list[tuple[str, int]]]:
    """Return the functions by name and first line: qualified name, and index among the functions of that name."""
    found: dict[_Line, list[tuple[str, int]]] = defaultdict(list)
    for name, some in codes.items():
        for number, code in enumerate(some):
            found[_line(code)].append((name, number))
    return found


def _codes(code: CodeType) -> dict[str, list[CodeType]]:
    """Return all code objects in a module's, by qualified name, in the order of the text."""
    found: dict[str, list[CodeType]] = defaultdict(list)
    waiting = [("", code)]
    while waiting:
        outer, around = waiting.pop(0)
        for one in around.co_consts:
            if inspect.iscode(one):
                name = f"{outer}.{one.co_name}" if outer else one.co_name
                found[name].append(one)
                waiting.append((name, one))
    return found


def _living(paths: set[str]) -> dict[str, list[FunctionType]]:
    """Return the live functions that were compiled from each file."""
    found: dict[str, list[FunctionType]] = {path: [] for path in paths}
    # gc.get_objects() does not list frozen objects.
    gc.unfreeze()
    for one in gc.get_objects():
        if type(one) is FunctionType and one.__code__.co_filename in found:
            found[one.__code__.co_filename].append(one)
    gc.freeze()
    return found
