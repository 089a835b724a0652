"""Statements that do more than give names values: a choice between two computed sides can't keep these."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from ...syntax.module import Module
from ..types.cannot_rewrite import CannotRewrite

_TELLING = ("builtins.print", "warnings.warn", "builtins.open", "builtins.exec", "builtins.eval", "builtins.input")
_GROWING = frozenset(
    "append add extend insert pop popitem remove discard clear update setdefault sort reverse write put".split()  # noqa: SIM905
)
"""Methods that change a container; `torch.Tensor.add` has arguments that a set's has not, but a bare call of either
can only be there for its effect."""
_MEASURING = frozenset(
    "norm sum mean max min abs any all numel size dim item amax amin std var argmax argmin isnan isfinite".split()  # noqa: SIM905
)
"""Methods whose result shares nothing with their tensor."""
_IN_PLACE = frozenset(f"__i{name}__" for name in "add sub mul truediv floordiv mod pow and or xor".split())  # noqa: SIM905
_READING = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.AugAssign, ast.Return, ast.If, ast.While)
"""Parents of a name that compute with its tensor, or end the function."""
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Raise: ("raises-in-branch", "raises, which a program can't do on one side only"),
    ast.Assert: ("raises-in-branch", "may raise, which a program can't do on one side only"),
    ast.Global: ("effect-in-branch", "binds a name outside of the function"),
    ast.Nonlocal: ("effect-in-branch", "binds a name outside of the function"),
    ast.Delete: ("effect-in-branch", "deletes a name or an element"),
    ast.Import: ("effect-in-branch", "imports"),
    ast.ImportFrom: ("effect-in-branch", "imports"),
    ast.Yield: ("effect-in-branch", "hands a value out of the middle of the function"),
    ast.YieldFrom: ("effect-in-branch", "hands values out of the middle of the function"),
    ast.Await: ("effect-in-branch", "awaits"),
    ast.Try: ("raises-in-branch", "catches exceptions, which a program does not raise"),
    ast.With: ("effect-in-branch", "enters a context"),
    ast.AsyncWith: ("effect-in-branch", "enters a context"),
    ast.AsyncFor: ("effect-in-branch", "awaits"),
    ast.FunctionDef: ("effect-in-branch", "defines a function"),
    ast.AsyncFunctionDef: ("effect-in-branch", "defines a function"),
    ast.ClassDef: ("effect-in-branch", "defines a class"),
    ast.NamedExpr: ("effect-in-branch", "binds a name inside of an expression"),
}


def require_pure(module: Module, parts: Sequence[ast.AST], *, returns: bool = False) -> None:
    """Raise CannotRewrite, with the place, where statements or expressions do more than give local names values.

    ``returns``: a ``return`` may end them.
    """
    for node in _inside(parts):
        refused = _REFUSED.get(type(node)) or _leaving(node, parts, returns) or _changing(module, node)
        if refused:
            line = getattr(node, "lineno", 0)
            text = " ".join(ast.unparse(node).split())[:60]
            raise CannotRewrite(refused[0], f"at line {line} `{text}` {refused[1]}")


def _inside(parts: Iterable[ast.AST]) -> Iterator[ast.AST]:
    return (node for part in parts for node in ast.walk(part))


def _leaving(node: ast.AST, parts: Sequence[ast.AST], returns: bool) -> tuple[str, str] | None:
    if isinstance(node, ast.Return):
        return None if returns else ("leaves-in-branch", "leaves the function from inside of a loop or one side")
    if isinstance(node, (ast.Break, ast.Continue)) and not _in_own_loop(node, parts):
        return "leaves-in-branch", "leaves a step of the loop around it"
    return None


def _in_own_loop(node: ast.AST, parts: Sequence[ast.AST]) -> bool:
    loops = (one for one in _inside(parts) if isinstance(one, (ast.For, ast.While)))
    return any(node is inner for loop in loops for inner in ast.walk(loop))


def _changing(module: Module, node: ast.AST) -> tuple[str, str] | None:
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For)):
        return _stored(module, node)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return _call(module, node.value) or _bare_call(module, node.value)
    if isinstance(node, ast.Call):
        return _call(module, node)
    return None


def _stored(module: Module, node: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.For) -> tuple[str, str] | None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in (part for one in targets for part in ast.walk(one)):
        if isinstance(target, ast.Attribute) and isinstance(target.ctx, ast.Store):
            return "changes-attribute", "changes an attribute"
        if isinstance(target, ast.Subscript) and isinstance(target.ctx, ast.Store):
            return "changes-in-place", "changes an element of a tensor or container"
    if isinstance(node, ast.AugAssign) and not is_fresh(module, node):
        return "changes-in-place", f"changes `{ast.unparse(node.target)}` in place, which others may hold too"
    return None


def is_fresh(module: Module, node: ast.AugAssign) -> bool:
    """Return whether an augmented assignment changes no tensor in place that another name holds.

    Each other binding of the name in the function is an operator's result or a number, and nothing hands it on.
    """
    function = module.function_of(node)
    if not isinstance(node.target, ast.Name) or function is None:
        return False
    name = node.target.id
    if any(argument.arg == name for argument in function.arguments) and not _is_made_anew(module, node, name):
        return False
    uses = [one for one in ast.walk(function.node) if isinstance(one, ast.Name) and one.id == name]
    stores = [module.parents[one] for one in uses if isinstance(one.ctx, ast.Store)]
    plain = (ast.BinOp, ast.UnaryOp, ast.Constant)
    made = all(
        isinstance(one, ast.AugAssign) or (isinstance(one, ast.Assign) and isinstance(one.value, plain))
        for one in stores
    )
    return made and not any(_hands_on(module, one) for one in uses if isinstance(one.ctx, ast.Load))


def _is_made_anew(module: Module, node: ast.AugAssign, name: str) -> bool:
    """Return whether a statement that comes before on every way gives a parameter a value of its own."""
    below: ast.AST = node
    for above in module.place(node).ancestors:
        for block in (getattr(above, part, None) for part in ("body", "orelse")):
            for one in block[: block.index(below)] if isinstance(block, list) and below in block else ():
                made = isinstance(one, ast.Assign) and isinstance(one.value, (ast.BinOp, ast.UnaryOp))
                if made and name in {target.id for target in one.targets if isinstance(target, ast.Name)}:
                    return True
        below = above
    return False


def _hands_on(module: Module, use: ast.Name) -> bool:
    """Return whether something else may hold a tensor, or a part of it, after its name was read."""
    above = module.parents[use]
    if isinstance(above, ast.Attribute):
        called = module.parents[above]
        return not (isinstance(called, ast.Call) and called.func is above and above.attr in _MEASURING)
    if isinstance(above, ast.Tuple):
        return not isinstance(module.parents[above], ast.Return)
    return not isinstance(above, _READING)


def _bare_call(module: Module, call: ast.Call) -> tuple[str, str]:
    if module.names.meaning(call.func) in _TELLING:
        return "effect-in-branch", "prints or warns"
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name in _GROWING:
        return "changes-container", "changes a list, dict or set"
    return "effect-in-branch", "is there for its effect alone"


def _call(module: Module, call: ast.Call) -> tuple[str, str] | None:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if module.names.meaning(call.func) in _TELLING:
        return "effect-in-branch", "prints or warns"
    in_place = name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))
    if in_place or any(one.arg in ("out", "inplace") for one in call.keywords):
        return "changes-in-place", "changes a tensor in place"
    if name in ("append", "extend", "insert", "pop", "popitem", "setdefault"):
        return "changes-container", "changes a list, dict or set"
    return None
