"""Spelling of symbols at a place, and the imports that they need there."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from ...codemods.model.rule import Context
from ...codemods.torchapi.releases import available
from ..analysis.flow.tracers import is_faked, is_kept_in_graph
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..analysis.types.library import SHAPES
from ..syntax.module import Module


@dataclass(frozen=True)
class Spelled:
    """The text that names a symbol, and the required imports (none if the file has them)."""

    text: str
    needs: tuple[str, ...] = ()


COMPILING = "torch.compiler.is_compiling"
SCRIPTING = "torch.jit.is_scripting"
_LOADED = ("torch", "torch.compiler", "torch.jit")
"""Modules that ``import torch`` makes available."""


def spell(module: Module, place: ast.AST, symbol: str, context: Context) -> Spelled | None:
    """Return the spelling of ``symbol`` (``torch.fx.experimental.symbolic_shapes.guard_or_false``) here, or None.

    It is None if the name has another meaning here, or if the target torch lacks it and there is no fallback. It is
    also None if dynamo may trace the place and rejects the helper.
    """
    if not context.tried and refusal(module, place, symbol, context):
        return None
    home, _, name = symbol.rpartition(".")
    there = _there(module, symbol, context)
    loaded = home in _LOADED
    for local, meaning in module.names.imported_at(place, {symbol, home, *_LOADED[:loaded]}):
        if meaning == symbol:
            return Spelled(local)
        if meaning == home and home and there:
            return Spelled(f"{local}.{name}")
        if meaning == "torch" and loaded and there:
            return Spelled(f"{local}.{symbol.removeprefix('torch.')}")
    if not there and not _has_fallback(module, symbol, context):
        return None
    if not module.names.free(_imported_as(symbol), place) and not _again(module, place, symbol):
        return None
    return Spelled(symbol, ("torch",)) if loaded else Spelled(name, (symbol,))


def spelled_out(module: Module, place: ast.AST, symbol: str, context: Context) -> Spelled:
    """Return the spelling of ``symbol`` here, as `spell` does. Raise CannotRewrite if there is none."""
    spelled = spell(module, place, symbol, context)
    if spelled is None:
        raise CannotRewrite(*unnamed(module, place, symbol, context))
    return spelled


def joiner(module: Module, place: ast.AST, both: bool, context: Context) -> Spelled:
    """Return the function that joins conditions symbolically, or the operator if dynamo rejects the function.

    Dynamo does not trace ``sym_and`` of two bools, which comparisons of static sizes return. Raise CannotRewrite.
    """
    symbol = guarded("sym_and" if both else "sym_or")
    if refusal(module, place, symbol, context):
        return Spelled("&" if both else "|")
    return spelled_out(module, place, symbol, context)


def refusal(module: Module, place: ast.AST, symbol: str, context: Context) -> str | None:
    """Return why dynamo can't trace a call of ``symbol`` at a place, or None if it can or does not trace it."""
    function = module.function_of(place)
    faked = is_faked(module, function, context.api) or is_kept_in_graph(module, function, context.api)
    return None if faked else context.api.dynamo_refusal(symbol)


def unnamed(module: Module, place: ast.AST, symbol: str, context: Context) -> tuple[str, str]:
    """Return why `spell` can't write a symbol, as (reason, detail)."""
    refused = None if context.tried else refusal(module, place, symbol, context)
    if refused:
        return "refused-by-dynamo", f"{refused}, and dynamo may trace this function"
    name, home = _imported_as(symbol), symbol.rpartition(".")[0]
    loaded = {home, *_LOADED[: home in _LOADED]}
    if any(module.names.imported_at(place, loaded)) or module.names.free(name, place) or _again(module, place, symbol):
        return "no-such-name", f"the target torch has no `{symbol}`"
    return "name-shadowed", f"`{name}` means something else here, so `{symbol}` can't be written"


def _imported_as(symbol: str) -> str:
    """Return the name that must be free for an import of a symbol."""
    home, _, name = symbol.rpartition(".")
    return "torch" if home in _LOADED else name


def renamed(module: Module, func: ast.expr, symbol: str, context: Context) -> Spelled | None:
    """Return the replacement of ``func``, a name of the same module, by ``symbol``: ``shapes.old`` → ``shapes.new``."""
    if isinstance(func, ast.Attribute):
        there = available(symbol, context.min_torch, context.api)
        return Spelled(f"{module.text(func.value).decode()}.{symbol.rpartition('.')[2]}") if there else None
    return spell(module, func, symbol, context)


def guarded(name: str) -> str:
    """Return the dotted name of a helper of ``torch.fx.experimental.symbolic_shapes``."""
    return f"{SHAPES}.{name}"


def _there(module: Module, symbol: str, context: Context) -> bool:
    """Return whether the torch that will run the file has ``symbol``. A file of PyTorch's runs with its own tree."""
    return available(symbol, None if module.own_tree else context.min_torch, context.api)


def _has_fallback(module: Module, symbol: str, context: Context) -> bool:
    """Return whether a failing import can fall back on plain Python, which only code outside PyTorch's tree needs."""
    return not module.own_tree and context.min_torch is not None and symbol.startswith(f"{SHAPES}.")


def _again(module: Module, place: ast.AST, symbol: str) -> bool:
    """Return whether the enclosing function imports the same symbol later, so that it can be imported earlier."""
    home, _, name = symbol.rpartition(".")
    if not module.own_tree or home == "torch" or existing_import(module.names.running_at_top, home):
        return False
    around = module.names.functions_around(place)
    again = bool(around) and module.names.owner(name, place) is around[-1]
    return again and module.names.meaning_of_name(name, place) == symbol


def existing_import(statements: Iterable[ast.stmt], home: str) -> ast.ImportFrom | None:
    """Return the first statement that imports names from ``home``, or None."""
    for statement in statements:
        same = isinstance(statement, ast.ImportFrom) and statement.module == home and not statement.level
        if same and isinstance(statement, ast.ImportFrom) and statement.names[0].name != "*":
            return statement
    return None
