"""How a symbol is written at a place, and the import it needs there."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import lru_cache

from ..codemods.rule import Context
from ..codemods.torchapi.releases import available
from ._evaluate import SHAPES
from ._module import Function, Module, imported_names
from ._territory import own_tree


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
    function = module.function_of(place)
    if own_tree(module) and not _known(symbol, context):
        return None
    start = module.span(place)[0] if isinstance(place, (ast.expr, ast.stmt)) else 0
    home, _, name = symbol.rpartition(".")
    for local, meaning in _visible(module, function, start).items():
        if meaning == symbol:
            return Spelled(local)
        if meaning == home and home:
            return Spelled(f"{local}.{name}")
    if home == "torch":
        return Spelled(symbol, ("torch",)) if _free(module, function, "torch") else None
    return Spelled(name, (symbol,)) if _free(module, function, name) else None


def renamed(module: Module, func: ast.expr, symbol: str, context: Context) -> Spelled | None:
    """How to write ``symbol`` in place of ``func``, a name beside it: ``shapes.old`` becomes ``shapes.new``."""
    if isinstance(func, ast.Attribute):
        return Spelled(f"{module.text(func.value).decode()}.{symbol.rpartition('.')[2]}")
    return spell(module, func, symbol, context)


def guarded(name: str) -> str:
    """The dotted name of a helper of ``torch.fx.experimental.symbolic_shapes``."""
    return f"{SHAPES}.{name}"


def _known(symbol: str, context: Context) -> bool:
    return available(symbol, None, context.api)


def _visible(module: Module, function: Function | None, start: int) -> dict[str, str]:
    """Imports that have surely run when ``start`` does: at the top, or at the head of a function around it."""
    names = {} if function is None else _visible(module, function.outer, start)
    if function is None:
        return {
            local: meaning
            for local, meaning in imported_names(running_at_top(module)).items()
            if local not in module.bound
        }
    names = {local: meaning for local, meaning in names.items() if local not in function.bound}
    early = [one for one in function.node.body if module.span(one)[0] < start]
    names.update(imported_names([one for one in early if isinstance(one, (ast.Import, ast.ImportFrom))]))
    return names


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


def _free(module: Module, function: Function | None, name: str) -> bool:
    scope = function
    while scope is not None:
        if name in scope.bound:
            return False
        scope = scope.outer
    return name not in module.bound and module.imports.get(name, "").rpartition(".")[2] in ("", name)
