"""Names that go into a block of statements and come out of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...syntax.module import Module
from ...syntax.tree import FunctionNode

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LOOPS = (ast.For, ast.While)


def stored(parts: Sequence[ast.AST]) -> list[str]:
    """Return the names that a block gives values, in source order."""
    found = [one for part in parts for one in _names(part) if isinstance(one.ctx, ast.Store)]
    return list(dict.fromkeys(one.id for one in sorted(found, key=lambda one: (one.lineno, one.col_offset))))


def given_by(statement: ast.Assign, name: str) -> Iterator[ast.expr]:
    """Yield what an assignment gives a name, in a tuple too: ``out, start = [], 0``."""
    for target in statement.targets:
        if isinstance(target, ast.Name) and target.id == name:
            yield statement.value
        elif isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs = zip(target.elts, statement.value.elts, strict=False)
            yield from (value for one, value in pairs if isinstance(one, ast.Name) and one.id == name)


def read(parts: Sequence[ast.AST]) -> set[str]:
    """Return the names that a block reads anywhere; an augmented assignment reads its own."""
    found = {one.id for part in parts for one in ast.walk(part) if isinstance(one, ast.Name) and _reads(one)}
    added = (one.target for part in parts for one in ast.walk(part) if isinstance(one, ast.AugAssign))
    return found | {one.id for one in added if isinstance(one, ast.Name)}


def surely_stored(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the names that a block gives values on every way through it."""
    found: set[str] = set()
    for one in statements:
        if isinstance(one, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With)):
            found.update(stored([one]))
        elif isinstance(one, ast.If) and one.orelse:
            found |= surely_stored(one.body) & surely_stored(one.orelse)
    return found


def bound_before(module: Module, statement: ast.stmt) -> set[str]:
    """Return the names that are bound on every way to a statement in its function."""
    function = module.function_of(statement)
    found = set() if function is None else {one.arg for one in function.arguments}
    below: ast.AST = statement
    for above in module.place(statement).ancestors:
        found |= surely_stored(_before(above, below))
        if isinstance(above, ast.For) and below in above.body:
            found.update(stored([above.target]))
        if isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
            break
        below = above
    return found


def read_after(module: Module, statements: Sequence[ast.stmt]) -> set[str]:
    """Return the names that are read behind a run of statements, or around it if a loop comes back."""
    function = module.function_of(statements[0])
    body: list[ast.stmt] = module.tree.body if function is None else function.node.body
    inside = {id(one) for statement in statements for one in ast.walk(statement)}
    last = statements[-1].end_lineno or statements[-1].lineno
    loops = any(isinstance(one, _LOOPS) for one in _above(module, statements[0]))
    outside = (one for part in body for one in ast.walk(part) if isinstance(one, ast.Name) and id(one) not in inside)
    reading = {one.id for one in outside if _reads(one) and (loops or one.lineno > last)}
    added = (one.target for part in body for one in ast.walk(part) if isinstance(one, ast.AugAssign))
    return reading | {
        one.id for one in added if isinstance(one, ast.Name) and id(one) not in inside and (loops or one.lineno > last)
    }


def always_returns(block: Sequence[ast.stmt]) -> bool:
    """Return whether a block ends in a ``return`` on every way through it."""
    last = block[-1] if block else None
    if isinstance(last, ast.If):
        return always_returns(last.body) and always_returns(last.orelse)
    return isinstance(last, ast.Return)


def following(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """Return the statements behind one in its block."""
    above = module.parents[statement]
    for name in ("body", "orelse", "finalbody"):
        block = getattr(above, name, None)
        if isinstance(block, list) and statement in block:
            return block[block.index(statement) + 1 :]
    return []


def preceding(module: Module, statement: ast.stmt) -> list[ast.stmt]:
    """Return the statements before one in its block."""
    return _before(module.parents[statement], statement)


def _above(module: Module, statement: ast.stmt) -> Iterator[ast.AST]:
    for one in module.place(statement).ancestors:
        if isinstance(one, FunctionNode):
            return
        yield one


def _before(above: ast.AST, below: ast.AST) -> list[ast.stmt]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(above, name, None)
        if isinstance(block, list) and below in block:
            return block[: block.index(below)]
    return []


def _names(part: ast.AST) -> Iterator[ast.Name]:
    """Yield the names of a block itself: not those of functions, classes and comprehensions in it."""
    if isinstance(part, ast.Name):
        yield part
    for child in ast.iter_child_nodes(part):
        if not isinstance(child, (*_SCOPES, *_COMPREHENSIONS)):
            yield from _names(child)


def _reads(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)
