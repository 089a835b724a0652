"""Check whether TorchScript may compile a function. After a symbolic helper is inserted, TorchScript can't.

The users of a library may pass its functions to ``torch.jit.script``, and no file of the library shows that. Constructs
that TorchScript rejects in any function are certain: it reads the whole body, including branches that are never taken.
"""

from __future__ import annotations

import ast

from ...syntax.module import Module
from ...syntax.tree import FunctionDefinition

TO_SCRIPT = (b"jit.is_scripting", b"jit.unused")
"""Words that occur in some file of a package that TorchScript is meant to compile as a whole."""
_REFUSED = (
    ast.AsyncFunctionDef,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Await,
    ast.ClassDef,
    ast.FunctionDef,
    ast.Global,
    ast.Import,
    ast.ImportFrom,
    ast.Lambda,
    ast.Match,
    ast.NamedExpr,
    ast.Nonlocal,
    ast.Set,
    ast.SetComp,
    ast.Try,
    ast.Yield,
    ast.YieldFrom,
)
_SHAPED = (
    ast.AnnAssign,
    ast.Call,
    ast.Dict,
    ast.DictComp,
    ast.For,
    ast.FormattedValue,
    ast.GeneratorExp,
    ast.ListComp,
    ast.While,
)
_UNKNOWN_TYPES = ("numpy.", "collections.abc.", "torch.nn.", "torch.Size", "builtins.dict")
_UNKNOWN_OF_TYPING = frozenset(
    {"Callable", "Collection", "Generator", "Iterable", "Iterator", "Literal", "Mapping", "Sequence", "Type", "TypeVar"}
)
_NEVER_NONE = ("builtins.int", "builtins.float", "builtins.str")


def refused_by_script(module: Module, function: FunctionDefinition) -> bool:
    """Return whether TorchScript certainly does not compile the function."""
    body = function.nodes
    if isinstance(function.node, ast.AsyncFunctionDef) or body.every(*_REFUSED):
        return True
    return any(_misshapen(one) for one in body.every(*_SHAPED)) or _signature_refused(module, function)


def _misshapen(node: ast.AST) -> bool:
    """Return whether a node has an unsupported form of a kind that TorchScript supports."""
    match node:
        case ast.AnnAssign(value=None) | ast.FormattedValue(conversion=97 | 114 | 115):
            return True
        case ast.FormattedValue():
            return node.format_spec is not None
        case ast.Call():
            return any(one.arg is None for one in node.keywords)
        case ast.Dict():
            return None in node.keys
        case ast.For() | ast.While():
            return bool(node.orelse)
        case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
            return len(node.generators) > 1 or bool(node.generators[0].ifs)
    return False


def _signature_refused(module: Module, function: FunctionDefinition) -> bool:
    spec = function.node.args
    if spec.vararg or spec.kwarg or any(default is not None for default in spec.kw_defaults):
        return True
    start, end = module.span(function.node)
    if b"# type:" in module.source.content[start:end]:
        return False
    annotations = [function.node.returns, *(one.annotation for one in function.arguments)]
    if any(_unknown_type(module, one) for one in annotations if one is not None):
        return True
    named = [*spec.posonlyargs, *spec.args]
    defaults = zip(named[len(named) - len(spec.defaults) :], spec.defaults, strict=True)
    return any(_unfit_default(module, parameter, value) for parameter, value in defaults)


def _unknown_type(module: Module, annotation: ast.expr) -> bool:
    """Return whether the annotation names a type that TorchScript does not have. Strings are not examined."""
    for node in ast.walk(annotation):
        if isinstance(node, (ast.Name, ast.Attribute)):
            meaning = module.names.meaning(node) or ""
            home, _, name = meaning.rpartition(".")
            if home in ("typing", "typing_extensions") and name in _UNKNOWN_OF_TYPING:
                return True
            if meaning.startswith(_UNKNOWN_TYPES) and not _constructs(module, node, meaning):
                return True
    return False


def _constructs(module: Module, node: ast.expr, meaning: str) -> bool:
    """Return whether a node is part of ``dict[str, int]``, which TorchScript supports, unlike a bare ``dict``."""
    above = module.parents.get(node)
    return meaning == "builtins.dict" and isinstance(above, ast.Subscript) and above.value is node


def _unfit_default(module: Module, parameter: ast.arg, default: ast.expr) -> bool:
    """Return whether TorchScript rejects a default value.

    Without an annotation a parameter is a Tensor, and its default may only be None.
    """
    nothing = isinstance(default, ast.Constant) and default.value is None
    if parameter.annotation is None:
        literal = (ast.Constant, ast.UnaryOp, ast.Tuple, ast.List, ast.Dict, ast.JoinedStr)
        return isinstance(default, literal) and not nothing
    return nothing and (module.names.meaning(parameter.annotation) or "").startswith(_NEVER_NONE)
