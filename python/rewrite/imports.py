"""Placement of imports of new names: each once, next to existing imports, in the function or at the top."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix
from ...codemods.model.source_file import SourceFile
from ...codemods.torchapi.releases import FIRST
from ..syntax.module import Module, parse
from ..syntax.tree import FunctionDefinition
from .qualified_names import existing_import

_WIDTH = 88
_STANDARD = ""
"""Family of the modules of the standard library."""


def complete(source: SourceFile, fixes: Sequence[Fix], context: Context) -> list[Edit]:
    """Return the edits that import the names that ``fixes`` need."""
    module = parse(source)
    wanted: dict[tuple[FunctionDefinition | None, str], set[str]] = defaultdict(set)
    first_use: dict[tuple[FunctionDefinition | None, str], int] = {}
    late: set[str] = set()
    for fix in fixes:
        for symbol in fix.needs:
            home, _, name = symbol.rpartition(".")
            if _too_new(symbol, context):
                late.add(symbol)
            else:
                place = _home(module, home, fix.start), home
                wanted[place].add(name)
                first_use[place] = min(fix.start, first_use.get(place, fix.start))
    edits = []
    for (function, home), names in wanted.items():
        if home:
            edits.append(_place(module, function, home, names, first_use[function, home]))
        else:
            edits += [_insert_at_top(module, name, f"import {name}{module.newline}".encode()) for name in sorted(names)]
    if late:
        edits.append(_insert_at_top(module, "torch", _fallbacks(module, sorted(late))))
    return _merged(edits)


def _merged(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits with insertions at one place merged. The same text is not inserted twice."""
    at: dict[tuple[int, int], list[bytes]] = {}
    for edit in edits:
        texts = at.setdefault((edit.start, edit.end), [])
        if edit.text not in texts:
            texts.append(edit.text)
    return [Edit(start, end, b"".join(texts)) for (start, end), texts in sorted(at.items())]


def _too_new(symbol: str, context: Context) -> bool:
    first = FIRST.get(symbol)
    return context.min_torch is not None and first is not None and context.min_torch < first


def _home(module: Module, home: str, start: int) -> FunctionDefinition | None:
    """Return the function that gets the import, or None for the top of the file.

    PyTorch's own modules import each other in circles, so the import goes where it is used. If the top already has an
    import of the same module, that one is extended.
    """
    if not home or not module.own_tree or existing_import(module.names.running_at_top, home):
        return None
    inside = [function for first, last, function in _bodies(module) if first <= start < last]
    return inside[-1] if inside else None


@lru_cache(maxsize=8)
def _bodies(module: Module) -> list[tuple[int, int, FunctionDefinition]]:
    """Return the byte ranges of the bodies of the outermost functions."""
    outermost = [one for one in module.functions if one.outer is None]
    return [(module.span(one.node.body[0])[0], module.span(one.node.body[-1])[1], one) for one in outermost]


def _place(module: Module, function: FunctionDefinition | None, home: str, names: set[str], first_use: int) -> Edit:
    body = function.node.body if function else module.names.running_at_top
    there = existing_import([one for one in body if module.span(one)[0] < first_use], home)
    if there is not None:
        return _extend(module, there, names)
    if function is not None:
        return _insert_in_function(module, function, _statement(home, names))
    return _insert_at_top(module, home, _statement(home, names) + module.newline.encode())


def _statement(home: str, names: Iterable[str]) -> bytes:
    return f"from {home} import {', '.join(sorted(names))}".encode()


def _extend(module: Module, statement: ast.ImportFrom, names: set[str]) -> Edit:
    """Add ``names`` to an import: on its line, or one name per line if it is written so."""
    start, end = module.span(statement)
    text = module.source.content[start:end]
    taken = [alias.name for alias in statement.names]
    missing = sorted(names - {alias.name for alias in statement.names if not alias.asname})
    if b"\n" not in text and b"#" not in text:
        aliases = [module.text(alias).decode() for alias in statement.names]
        every = sorted([*aliases, *missing]) if taken == sorted(taken) else [*aliases, *missing]
        line = f"from {statement.module} import {', '.join(every)}"
        if statement.col_offset + len(line) <= _WIDTH or text.rstrip().endswith(b")"):
            return Edit(start, end, line.encode())
        return Edit(start, end, _one_a_line(module, str(statement.module), every, " " * statement.col_offset))
    before = next((alias for alias in statement.names if alias.name > missing[0]), None)
    if before is not None and taken == sorted(taken) and len(missing) == 1:
        at = module.span(before)[0]
        gap = _blank_before(module, at)
        return Edit(at, at, missing[0].encode() + b"," + (gap or b" "))
    at = module.span(statement.names[-1])[1]
    gap = _blank_before(module, module.span(statement.names[-1])[0])
    return Edit(at, at, b"".join(b"," + (gap or b" ") + name.encode() for name in missing))


def _one_a_line(module: Module, home: str, names: Sequence[str], indent: str) -> bytes:
    lines = [f"from {home} import (", *(f"{indent}    {name}," for name in names), f"{indent})"]
    return module.newline.join(lines).encode()


def _blank_before(module: Module, at: int) -> bytes:
    """Return the line end and indentation before ``at`` if it is the first token on its line, else nothing."""
    content = module.source.content
    line = content.rfind(b"\n", 0, at)
    indent = content[line + 1 : at]
    return module.newline.encode() + indent if line >= 0 and not indent.strip() else b""


def _insert_in_function(module: Module, function: FunctionDefinition, statement: bytes) -> Edit:
    body = function.node.body
    documented = len(body) > 1 and _is_docstring(body[0])
    follower = body[1] if documented else body[0]
    at = _start(module, follower)
    content = module.source.content
    line = content.rfind(b"\n", 0, at) + 1
    indent = content[line:at]
    if indent.strip():
        return Edit(at, at, statement + b"; ")
    # Comments above a statement belong to it. Text above them, such as the end of a docstring, is unchanged.
    earliest = module.span(body[0])[1] if documented else 0
    while line:
        above = content.rfind(b"\n", 0, line - 1) + 1
        if above < earliest or not content[above : line - 1].strip().startswith(b"#"):
            break
        line = above
    end = module.newline.encode()
    return Edit(line, line, indent + statement + end + end)


def _is_docstring(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _start(module: Module, statement: ast.stmt) -> int:
    """Return the start of a statement, including its decorators."""
    decorators = getattr(statement, "decorator_list", ())
    return min([module.span(statement)[0], *(_at_sign(module, one) for one in decorators)])


def _at_sign(module: Module, decorator: ast.expr) -> int:
    return module.source.content.rindex(b"@", 0, module.grouped_span(decorator)[0])


def _insert_at_top(module: Module, home: str, text: bytes) -> Edit:
    """Insert an import at its sorted position among the imports at the top."""
    body = module.tree.body
    imports = [one for one in body if isinstance(one, (ast.Import, ast.ImportFrom))]
    plain = text.startswith(b"import ")
    family = _family(home)
    related = [one for one in imports if _family(_top_name(one)) == family and not getattr(one, "level", 0)]
    if plain and family == _STANDARD:
        related = [one for one in related if isinstance(one, ast.Import)] or related
    for one in imports:
        relative = not related and isinstance(one, ast.ImportFrom) and one.level > 0
        if isinstance(one, ast.Import):
            later = plain and one.names[0].name > home
        else:
            later = plain or (one.module or "") > home
        future = isinstance(one, ast.ImportFrom) and one.module == "__future__"
        if not future and (relative or (later and _family(_top_name(one)) == family)):
            return _before(module, one, text)
    if not imports:
        if body and _is_docstring(body[0]):
            return _after(module, body[0], text)
        return (
            _before(module, body[0], text)
            if body
            else Edit(len(module.source.content), len(module.source.content), text)
        )
    if plain and family == _STANDARD and not related:
        return _before(module, imports[0], text + module.newline.encode())
    return _after(module, (related or imports)[-1], text)


def _before(module: Module, statement: ast.stmt, text: bytes) -> Edit:
    """Insert ``text``, which ends its line, above the line on which a top-level statement starts."""
    content, body = module.source.content, module.tree.body
    place = body.index(statement)
    while place and b"\n" not in content[module.span(body[place - 1])[1] : _start(module, body[place])]:
        place -= 1
    first = body[place]
    if _is_docstring(first) or (isinstance(first, ast.ImportFrom) and first.module == "__future__"):
        return _after(module, first, text)
    at = _start(module, first)
    return Edit(at, at, text)


def _after(module: Module, statement: ast.stmt, text: bytes) -> Edit:
    """Insert ``text``, which ends its line, below the last line of a top-level statement and all that ends there."""
    content, body = module.source.content, module.tree.body
    place = body.index(statement)
    while place + 1 < len(body) and b"\n" not in content[module.span(body[place])[1] : _start(module, body[place + 1])]:
        place += 1
    newline = content.find(b"\n", module.span(body[place])[1])
    if newline < 0:
        return Edit(len(content), len(content), module.newline.encode() + text)
    return Edit(newline + 1, newline + 1, text)


def _family(name: str) -> str:
    """Return the group of a module in a sorted list: the standard library, or one package."""
    top = name.partition(".")[0]
    return _STANDARD if top in sys.stdlib_module_names else top


def _top_name(statement: ast.Import | ast.ImportFrom) -> str:
    name = statement.names[0].name if isinstance(statement, ast.Import) else (statement.module or "")
    return name.partition(".")[0]


_FALLBACKS = {
    "guard_or_false": ("def guard_or_false(condition):", "    return bool(condition)"),
    "guard_or_true": ("def guard_or_true(condition):", "    return bool(condition)"),
    "statically_known_true": ("def statically_known_true(condition):", "    return condition is True"),
    "sym_and": ("def sym_and(first, *others):", "    return all((first, *others))"),
    "sym_or": ("def sym_or(first, *others):", "    return any((first, *others))"),
    "sym_eq": ("def sym_eq(left, right):", "    return left == right"),
}


def _fallbacks(module: Module, symbols: list[str]) -> bytes:
    """Return imports that fall back on plain Python if torch is older than the name."""
    end = module.newline
    blocks: list[str] = []
    for symbol in symbols:
        home, _, name = symbol.rpartition(".")
        major, minor = FIRST[symbol]
        head, tail = _FALLBACKS[name]
        lines = (
            "try:",
            f"    from {home} import {name}",
            f"except ImportError:  # torch < {major}.{minor}",
            "",
            f"    {head}",
            f"    {tail}",
            "",
        )
        blocks.append(end.join(lines) + end)
    return "".join(blocks).encode()
