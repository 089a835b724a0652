"""Whether Python runs a function as it is written: some decorators hand its text to another compiler."""

from __future__ import annotations

import ast

from ..syntax.module import Module
from ..syntax.tree import Function

_KNOWN = (
    "builtins.",
    "functools.",
    "contextlib.",
    "abc.",
    "typing.",
    "typing_extensions.",
    "dataclasses.",
    "collections.",
    "warnings.",
    "atexit.",
    "enum.",
    "pytest.",
    "unittest.",
    "torch.",
)


def foreign_decorator(module: Module, function: Function | None, own_tree: bool) -> str | None:
    """The first decorator around ``function`` that may not leave Python's semantics alone, as text; None without one.

    Known are those of the standard library, of pytest and of torch (TorchScript's are told elsewhere), in PyTorch's
    own tree what it defines itself, and a decorator of the same file that does nothing with the function but call it,
    keep it or hand it back.
    """
    if function is None:
        return None
    around = [function.node, *module.place(function.node).ancestors]
    for node in around:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for decorator in node.decorator_list:
                if not _known(module, decorator, own_tree):
                    return ast.unparse(decorator)
    return None


def _known(module: Module, decorator: ast.expr, own_tree: bool) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    meaning = module.names.meaning(named)
    if meaning is not None:
        return meaning.startswith(_KNOWN) or (meaning.startswith(".") and own_tree)
    if isinstance(named, ast.Attribute):
        return named.attr in ("setter", "getter", "deleter") or _made_by_torch(module, named, own_tree)
    if not isinstance(named, ast.Name) or module.names.owner(named.id, decorator) is not module.tree:
        return False
    made = module.names.defined_at_top.get(named.id)
    if made is None:
        return own_tree and named.id in module.names.bound
    factory = isinstance(decorator, ast.Call)
    inner = [one for one in module.functions if one.outer is made]
    return own_tree or any(_only_wraps(module, one) for one in (inner if factory else [made]))


def _made_by_torch(module: Module, named: ast.Attribute, own_tree: bool) -> bool:
    """A method of what the file got from torch: ``aten.pad.default.py_impl``, ``library.impl``."""
    root: ast.expr = named
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or module.names.owner(root.id, named) is not module.tree:
        return False
    if own_tree:
        return root.id in module.names.bound
    made = module.names.assigned_at_top.get(root.id)
    maker = made.func if isinstance(made, ast.Call) else made
    return maker is not None and (module.names.meaning(maker) or "").startswith("torch.")


def _only_wraps(module: Module, decorator: Function) -> bool:
    """Its first parameter is called, named in ``functools.wraps``, looked at, kept in a table or returned, no more."""
    if not decorator.arguments:
        return False
    name = decorator.arguments[0].arg
    inside = [one for statement in decorator.node.body for one in ast.walk(statement)]
    uses = [one for one in inside if isinstance(one, ast.Name) and one.id == name]
    return bool(uses) and all(isinstance(one.ctx, ast.Load) and _harmless(module, one) for one in uses)


def _harmless(module: Module, use: ast.Name) -> bool:
    above = module.parents[use]
    if isinstance(above, ast.Call):
        kept = isinstance(above.func, ast.Attribute) and above.func.attr in ("append", "add")
        wraps = module.names.meaning(above.func) in ("functools.wraps", "functools.update_wrapper")
        return above.func is use or wraps or kept
    if isinstance(above, ast.Assign):
        return all(isinstance(one, ast.Subscript) for one in above.targets)
    return isinstance(above, (ast.Return, ast.Attribute))
