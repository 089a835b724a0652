"""Replacement of prims by the operators that implement them: prims have no derivative, and Inductor supports operators.

The behavior of a prim on real tensors is a short function in ``torch/_prims/__init__.py``: ``impl_aten``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeGuard

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.system.python_parser import parse_module
from ..rewrite.findings import fix
from ..rewrite.qualified_names import spell
from ..syntax.module import Module

_HOME = "torch._prims"
_MAKES = "_make_prim"
_OPERATOR = re.compile(r"torch(\.\w+)+")


def replace_prim(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``prims.fft_r2c(x, dim=d, onesided=o)`` → ``torch._fft_r2c(x, d, 0, o)``.

    If the implementation is more than one call, call that function: ``prims._broadcast_in_dim_aten(x, s, d)``.
    """
    home, _, name = (module.names.meaning(call.func) or "").rpartition(".")
    if home != _HOME:
        return
    made = _implementation(_prims(module.source.path), name)
    torch = spell(module, call, "torch._check", context)
    written = None if made is None or torch is None else _behind(module, call, made)
    needs: tuple[str, ...] = ()
    if torch is not None and written is not None:
        root, needs = torch.text.removesuffix("._check"), torch.needs
        edit = Edit(*module.span(call), f"{root}{written}".encode())
    elif isinstance(made, ast.FunctionDef) and isinstance(call.func, ast.Attribute) and _bound(call, made):
        end = module.span(call.func)[1]
        edit = Edit(end - len(call.func.attr), end, made.name.encode())
    else:
        return
    message = f"call what implements `prims.{name}`, which has a derivative"
    yield fix(rule, module.place(call), [edit], message, needs, (), Safety.UNSAFE)


def _prims(path: Path) -> Path | None:
    """Return the file that defines the prims of the torch that contains ``path``, or None."""
    found = (folder / "_prims" / "__init__.py" for folder in path.parents if folder.name == "torch")
    return next((file for file in found if file.is_file()), None)


Behind = ast.FunctionDef | str
"""Implementation of a prim: a function of the file, or the name of the operator in `torch` (``conj_physical``)."""


@lru_cache(maxsize=4)
def _definitions(path: Path) -> Mapping[str, Behind]:
    """Return the implementation of each prim of the file."""
    tree = parse_module(path.read_bytes())
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    found: dict[str, Behind] = {}
    for one in tree.body:
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name) and _makes(one.value):
            value = next((keyword.value for keyword in one.value.keywords if keyword.arg == "impl_aten"), None)
            if isinstance(value, ast.Name) and value.id in functions:
                found[one.targets[0].id] = functions[value.id]
            elif isinstance(value, ast.Attribute) and ast.unparse(value.value) == "torch":
                found[one.targets[0].id] = value.attr
    return found


def _makes(value: ast.expr) -> TypeGuard[ast.Call]:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == _MAKES


def _implementation(path: Path | None, prim: str) -> Behind | None:
    return None if path is None else _definitions(path).get(prim)


def _behind(module: Module, call: ast.Call, made: Behind) -> str | None:
    """Return the call of the prim's implementation, without `torch` in front, or None."""
    if isinstance(made, str):
        if call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
            return None
        return f".{made}({', '.join(module.text(one).decode() for one in call.args)})"
    given = _bound(call, made)
    texts = {parameter: module.text(value).decode() for parameter, value in given.items()} if given else None
    return None if texts is None else _written(made, texts)


def _bound(call: ast.Call, made: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """Return the arguments of the call by the names of the parameters, or None unless each has one."""
    positional = [one.arg for one in made.args.args]
    if any(isinstance(one, ast.Starred) for one in call.args) or len(call.args) > len(positional):
        return None
    given = dict(zip(positional, call.args, strict=False))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    wanted = {*positional, *(one.arg for one in made.args.kwonlyargs)}
    return given if given.keys() == wanted and len(call.args) + len(call.keywords) == len(wanted) else None


def _written(made: ast.FunctionDef, given: Mapping[str, str]) -> str | None:
    """Return the call that the implementation returns, with the given arguments: ``._fft_r2c(x, d, 0, o)``.

    Return None unless the implementation is only that call, after constants that are assigned to names.
    """
    *constants, last = [one for one in made.body if not (isinstance(one, ast.Expr) and _docstring(one))]
    known = dict(given)
    for one in constants:
        if not isinstance(one, ast.Assign) or not isinstance(one.value, ast.Constant):
            return None
        known |= {target.id: ast.unparse(one.value) for target in one.targets if isinstance(target, ast.Name)}
    call = last.value if isinstance(last, ast.Return) else None
    called = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    if not isinstance(call, ast.Call) or not _OPERATOR.fullmatch(called):
        return None
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not all(isinstance(one, ast.Constant) or (isinstance(one, ast.Name) and one.id in known) for one in values):
        return None
    words = [known[one.id] if isinstance(one, ast.Name) else ast.unparse(one) for one in values]
    labels = [""] * len(call.args) + [f"{keyword.arg}=" for keyword in call.keywords]
    return (
        f"{called.removeprefix('torch')}({', '.join(label + word for label, word in zip(labels, words, strict=True))})"
    )


def _docstring(statement: ast.Expr) -> bool:
    return isinstance(statement.value, ast.Constant)
