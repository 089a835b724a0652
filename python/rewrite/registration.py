"""Registration of a file's reference functions as Python kernels of operators that C++ composes, for tracing.

Eager keeps the composition in C++: only the dispatcher of the tracers uses Python kernels. PyTorch does the same
(``torch/_decomp/decompositions.py``: ``matmul``, ``dropout``, ``pad_sequence``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety
from ...codemods.model.source_file import SourceFile
from ...codemods.system.python_parser import parse_module, shared_tree
from ..syntax.module import Module, parse
from ..syntax.tree import FunctionDefinition
from .findings import BRANCH, fix

NAME = "registration"
TRANSLATION = "translation"
_KEY = "CompositeImplicitAutograd"
_COMPOSING = frozenset({_KEY, "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional"})
_KEYS = "torch._C.DispatchKey"
_ATEN = frozenset({"torch.ops.aten", "torch._ops.ops.aten"})


def registered(source: SourceFile, context: Context, line: int, operators: Sequence[str]) -> Iterator[Fix]:
    """Yield the fix that registers the function at ``line`` for ``operators`` (``aten.hsplit.int``)."""
    module = parse(source)
    function = next((one for one in module.functions if one.outer is None and _first_line(one) == line), None)
    if function is None or function.qualname != function.node.name or not operators:
        return
    key, needs = _key(module, function)
    aten = _aten(module)
    if key is None or aten is None:
        return
    lines = [f"@{one.replace('aten', aten, 1)}.py_impl({key}.{_KEY})" for one in operators]
    text = "".join(line + module.newline for line in lines).encode()
    at = _line_start(module, _below(function))
    names = ", ".join(f"`{one}`" for one in operators)
    message = f"register `{function.node.name}` for {names}: tracing runs it, eager stays in C++"
    default = "every traced call runs the reference, with known sizes too: its graph may have other operators in it"
    place = module.place(function.node.body[0])
    yield fix(NAME, place, [Edit(at, at, text)], message, needs, [default], Safety.UNSAFE)


def translated(source: SourceFile, context: Context, operator: str, text: str, needs: Sequence[str]) -> Iterator[Fix]:
    """Yield the fix that appends ``text``, which registers a translation of C++ for ``operator``.

    The text uses ``torch``, ``aten``, ``utils``, ``Tensor``, ``sym_int``, ``sym_float`` and ``DispatchKey`` as torch's
    own file of decompositions does. Another file is not suitable.
    """
    module = parse(source)
    own = _assigned(module)
    imported = {alias.asname or alias.name: alias.name for one in module.tree.body for alias in _aliases(one)}
    if (
        own.get("aten") not in _ATEN
        or own.get("DispatchKey") != _KEYS
        or imported.get("utils") != "torch._prims_common"
    ):
        return
    at = len(source.content)
    newline = module.newline
    written = f"{newline}{newline}{text.replace(chr(10), newline)}".encode()
    message = f"translate what C++ composes for `{operator}`: tracing runs it, eager stays in C++"
    default = "every traced call runs the translation, with known sizes too: its graph may have other operators in it"
    missing = tuple(need for need in needs if need not in imported)
    name = next(one.name for one in parse_module(text).body if isinstance(one, ast.FunctionDef) and one.decorator_list)
    yield Fix(TRANSLATION, BRANCH, Safety.UNSAFE, (Edit(at, at, written),), message, name, default, missing)


def newly_registered(before: bytes, after: bytes) -> tuple[str, ...]:
    """Return the operators (``aten.hsplit.int``) with a composing Python kernel in ``after`` but not in ``before``."""
    known = _registered(before)
    return tuple(one for one in _registered(after) if one not in known)


@lru_cache(maxsize=16)
def _registered(content: bytes) -> tuple[str, ...]:
    return tuple(_registrations(content)) if b"py_impl" in content else ()


def _registrations(content: bytes) -> Iterator[str]:
    for node in shared_tree(content).body:
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if not isinstance(decorator, ast.Call) or not isinstance(decorator.func, ast.Attribute):
                continue
            keys = [one.attr for one in decorator.args if isinstance(one, ast.Attribute)]
            if decorator.func.attr == "py_impl" and len(keys) == 1 and keys[0] in _COMPOSING:
                yield "aten" + ast.unparse(decorator.func.value).rpartition("aten")[2]


def _first_line(function: FunctionDefinition) -> int:
    return min([function.node.lineno, *(one.lineno for one in function.node.decorator_list)])


def _below(function: FunctionDefinition) -> int:
    """Return the 1-based line above which the registration is inserted.

    It is below the decorators for tables, and above those that wrap the function.
    """
    tables = [one for one in function.node.decorator_list if "register_decomposition" in ast.unparse(one)]
    return (tables[-1].end_lineno or 0) + 1 if tables else _first_line(function)


def _line_start(module: Module, line: int) -> int:
    at = 0
    for _ in range(line - 1):
        at = module.source.content.index(b"\n", at) + 1
    return at


def _key(module: Module, function: FunctionDefinition) -> tuple[str | None, tuple[str, ...]]:
    """Return the spelling of `DispatchKey` at the top of the file, and the imports that it needs."""
    own = _assigned(module).get("DispatchKey")
    if own is not None:
        return ("DispatchKey", ()) if own == _KEYS else (None, ())
    for local, meaning in module.names.imported_at(function.node, {_KEYS}):
        if meaning == _KEYS:
            return local, ()
    # Torch's own modules import it from there. The index of torch's names does not contain those of `torch._C`.
    return ("DispatchKey", (_KEYS,)) if module.names.free("DispatchKey", function.node) else (None, ())


def _aten(module: Module) -> str | None:
    """Return the spelling of the operators at the top of the file, or None if it has none."""
    own = _assigned(module)
    named = next((name for name, value in own.items() if value in _ATEN), None)
    if named is not None:
        return named
    imported = any(
        alias.name == "torch" and alias.asname is None
        for one in module.tree.body
        if isinstance(one, ast.Import)
        for alias in one.names
    )
    return "torch.ops.aten" if imported and "torch" not in own else None


def _aliases(statement: ast.stmt) -> Sequence[ast.alias]:
    return statement.names if isinstance(statement, ast.Import | ast.ImportFrom) else ()


def _assigned(module: Module) -> dict[str, str]:
    """Return the values assigned to single names at the top of the file."""
    return {
        statement.targets[0].id: ast.unparse(statement.value)
        for statement in module.tree.body
        if isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    }
