"""How a symbol is written at a place, and the import it needs there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ...codemods.engine.rule import Context
from ...codemods.torchapi.releases import available
from ..analysis.evaluation import SHAPES
from ..syntax.module import Module
from ..syntax.tree import FunctionNode, imported_names


@dataclass(frozen=True)
class Spelled:
    """The text that names a symbol, and what must be imported for it (nothing when the file has it)."""

    text: str
    needs: tuple[str, ...] = ()


def spell(module: Module, place: ast.AST, symbol: str, context: Context) -> Spelled | None:
    """How ``symbol`` (``torch.sym_min``, ``torch.fx.experimental.symbolic_shapes.guard_or_false``) is written here.

    None when the name already means something else here, or when the target torch does not know it and nothing can
    be put in its place.
    """
    home, _, name = symbol.rpartition(".")
    there = _there(module, symbol, context)
    for local, meaning in _visible(module, place, {symbol, home}):
        if meaning == symbol:
            return Spelled(local)
        if meaning == home and home and there:
            return Spelled(f"{local}.{name}")
    if not there and not _has_fallback(module, symbol, context):
        return None
    missing = "torch" if home == "torch" else name
    if not _free(module, place, missing) and not _again(module, place, symbol):
        return None
    return Spelled(symbol, ("torch",)) if home == "torch" else Spelled(name, (symbol,))


def renamed(module: Module, func: ast.expr, symbol: str, context: Context) -> Spelled | None:
    """How to write ``symbol`` in place of ``func``, a name beside it: ``shapes.old`` becomes ``shapes.new``."""
    if isinstance(func, ast.Attribute):
        there = available(symbol, context.min_torch, context.api)
        return Spelled(f"{module.text(func.value).decode()}.{symbol.rpartition('.')[2]}") if there else None
    return spell(module, func, symbol, context)


def guarded(name: str) -> str:
    """The dotted name of a helper of ``torch.fx.experimental.symbolic_shapes``."""
    return f"{SHAPES}.{name}"


def _there(module: Module, symbol: str, context: Context) -> bool:
    """Whether the torch that will run the file has ``symbol``: a file of PyTorch's runs with its own tree."""
    return available(symbol, None if module.own_tree else context.min_torch, context.api)


def _has_fallback(module: Module, symbol: str, context: Context) -> bool:
    """Whether an import that fails can fall back on plain Python, which only code outside PyTorch's tree needs."""
    return not module.own_tree and context.min_torch is not None and symbol.startswith(f"{SHAPES}.")


def _visible(module: Module, place: ast.AST, wanted: set[str]) -> Iterator[tuple[str, str]]:
    """Names at ``place`` for what is wanted, by imports that have surely run: of the innermost scope first.

    An import counts at the top of the file or straight in the body of a function around, before the place.
    """
    start = module.span(place)[0] if isinstance(place, (ast.expr, ast.stmt)) else 0
    inside = False
    for scope in module.names.chain(place):
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef)):
            inside = True
            early = [one for one in _imports(scope.body) if module.span(one)[0] < start]
            yield from _meant(module, place, scope, imported_names(early), wanted)
    at_top = running_at_top(module)
    early = at_top if inside else [one for one in at_top if module.span(one)[0] < start]
    yield from _meant(module, place, module.tree, imported_names(early), wanted)


def _imports(statements: Iterable[ast.stmt]) -> list[ast.stmt]:
    return [one for one in statements if isinstance(one, (ast.Import, ast.ImportFrom))]


def _meant(
    module: Module, place: ast.AST, scope: ast.AST, names: dict[str, str], wanted: set[str]
) -> Iterator[tuple[str, str]]:
    """Those of ``names``, imported in ``scope``, that mean the same at ``place`` and are nobody else's there."""
    for local, meaning in names.items():
        owned = meaning in wanted and module.names.owner(local, place) is scope
        if owned and module.names.meaning_of_name(local, place) == meaning:
            yield local, meaning


@lru_cache(maxsize=8)
def running_at_top(module: Module) -> list[ast.stmt]:
    """The import statements that run when the module is imported; not those for type checkers."""
    found: list[ast.stmt] = []
    for statement in module.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            found.append(statement)
        elif isinstance(statement, ast.Try) and all(handler.body for handler in statement.handlers):
            found += [one for one in statement.body if isinstance(one, (ast.Import, ast.ImportFrom))]
    return found


def _free(module: Module, place: ast.AST, name: str) -> bool:
    """Whether an import of ``name`` for ``place`` would take the name from nobody."""
    if module.names.owner(name, place) is not None:
        return False
    around = _functions_around(module, place)
    return not around or not module.names.mentions(around[-1], name)


def _again(module: Module, place: ast.AST, symbol: str) -> bool:
    """Whether the function around imports the very symbol further down, so that its head can import it too."""
    around = _functions_around(module, place)
    home, _, name = symbol.rpartition(".")
    if not module.own_tree or home == "torch" or not around or existing_import(running_at_top(module), home):
        return False
    return module.names.owner(name, place) is around[-1] and module.names.meaning_of_name(name, place) == symbol


def _functions_around(module: Module, place: ast.AST) -> list[FunctionNode]:
    """Innermost first."""
    return [one for one in module.names.chain(place) if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef))]


def existing_import(statements: Iterable[ast.stmt], home: str) -> ast.ImportFrom | None:
    """The first statement that imports names from ``home``."""
    for statement in statements:
        same = isinstance(statement, ast.ImportFrom) and statement.module == home and not statement.level
        if same and isinstance(statement, ast.ImportFrom) and statement.names[0].name != "*":
            return statement
    return None
