"""Where a rewrite may stand: TorchScript's ground, PyTorch's own tree, code of its users."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from pathlib import PurePath

from ..codemods.rule import Context
from ._decorators import foreign_decorator
from ._module import Function, Module, spelled

_SCRIPTED = ("torch/nn/functional.py", "torch/functional.py")
_TO_SCRIPT = re.compile(
    rb"\bjit\.(?:script|export|ignore|unused|is_scripting|annotate|Final|Attribute|interface|isinstance|_overload"
    rb"|ScriptModule)|\bfrom torch\.jit import|\b_jit_internal\b"
)
_OTHERS = frozenset({"third_party", "_vendor", "vendored_templates", "testing"})
_SCRIPT_DECORATORS = ("jit.script", "jit._overload", "jit.export", "_overload", "script_method", "script_if_tracing")


def scripted(module: Module, function: Function | None) -> bool:
    """TorchScript may compile this: it knows neither ``guard_or_false`` nor a lambda."""
    inside = _inside_torch(module.source.path)
    if inside in _SCRIPTED or inside.startswith("torch/nn/modules/"):
        return True
    asks = b"is_scripting" in module.source.content
    scope = function
    while scope is not None:
        for decorator in scope.node.decorator_list:
            if spelled(decorator).partition("(")[0].endswith(_SCRIPT_DECORATORS):
                return True
        if asks and any(node.attr == "is_scripting" for node in scope.nodes.every(ast.Attribute)):
            return True
        scope = scope.outer
    return function is not None and function.outermost.node.name in _passed_to_script(module)


def speaks_to_script(module: Module) -> bool:
    """The file says something to TorchScript, which compiles what its methods call too."""
    return _TO_SCRIPT.search(module.source.content) is not None


_HOST = ("numpy.", "cv2.", "PIL.", "builtins.open")


def on_host(module: Module, function: Function) -> bool:
    """A constructor, or a function that calls numpy, an image library or ``open``: no undecided size comes there."""
    if function.outermost.node.name in ("__init__", "__new__"):
        return True
    calls = function.outermost.nodes.every(ast.Call)
    if any(isinstance(one.func, ast.Attribute) and one.func.attr == "numpy" and not one.args for one in calls):
        return True
    return any((module.meaning(one.func) or "").startswith(_HOST) for one in calls)


def _inside_torch(path: PurePath) -> str:
    parts = path.parts
    if "torch" not in parts:
        return ""
    last = len(parts) - 1 - parts[::-1].index("torch")
    return "/".join(parts[last:])


@lru_cache(maxsize=8)
def _passed_to_script(module: Module) -> set[str]:
    if b"jit.script(" not in module.source.content:
        return set()
    return {
        call.args[0].id
        for call in module.nodes.every(ast.Call)
        if call.args and isinstance(call.args[0], ast.Name) and spelled(call.func).endswith("jit.script")
    }


def obstacle(module: Module, function: Function | None, context: Context, *, asked: bool) -> tuple[str, str] | None:
    """Why nothing may be written here, as (reason, detail); None when the way is free.

    ``asked``: the rewrite changes which path an undecided size takes, which in code of PyTorch's users is done only
    on request.
    """
    if module.own_tree and _OTHERS & set(module.source.path.parts):
        return "third-party", "vendored and test code of PyTorch is changed where it comes from, or by hand"
    if scripted(module, function):
        return "torchscript", "TorchScript compiles this function and knows no symbolic helper"
    if not module.own_tree and speaks_to_script(module):
        return "torchscript", "the file speaks to TorchScript, which may compile this function and knows no helper"
    if asked and not module.own_tree and function is not None and on_host(module, function):
        return "host-code", "this runs on real values only: a constructor, or a function that hands data to the host"
    foreign = foreign_decorator(module, function, module.own_tree)
    if foreign:
        return "unknown-decorator", f"`@{foreign}` may hand this function to another compiler"
    if asked and not module.own_tree and not context.all_functions:
        return "user-code", "outside PyTorch's own tree a size takes a stated path on request only (--all-functions)"
    return None
