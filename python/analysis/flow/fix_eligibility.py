"""Eligibility of places for fixes: no code that TorchScript or another compiler reads, and no host code."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from ....codemods.model.rule import Context
from ...syntax.module import Module, Place
from ...syntax.tree import FunctionDefinition, spelled
from .dispatch_kind import DispatchedTensors, registered
from .scriptable import refused_by_script
from .tracers import is_traced

_SCRIPTED = ("torch.nn.functional", "torch.functional")
_TO_SCRIPT = re.compile(
    rb"\bjit\.(?:script|export|ignore|unused|is_scripting|annotate|Final|Attribute|interface|isinstance|_overload"
    rb"|ScriptModule|trace|is_tracing)|\bfrom torch\.jit import|\b_jit_internal\b"
)
_OTHERS = frozenset({"third_party", "_vendor", "vendored_templates", "testing"})
_SCRIPT_DECORATORS = ("jit.script", "jit._overload", "jit.export", "_overload", "script_method", "script_if_tracing")
_COMPILING = (
    "torch.compiler.is_compiling",
    "torch.compiler.is_dynamo_compiling",
    "torch._dynamo.is_compiling",
    "torch._utils.is_compiling",
)
_LEAVING_ALONE = (
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


def scripted(module: Module, function: FunctionDefinition | None) -> bool:
    """Return whether TorchScript may compile this. It supports neither ``guard_or_false`` nor a lambda."""
    if module.torch_name in _SCRIPTED or module.torch_name.startswith("torch.nn.modules."):
        return True
    asking = _asking(module)
    scope = function
    while scope is not None:
        for decorator in scope.node.decorator_list:
            if spelled(decorator).partition("(")[0].endswith(_SCRIPT_DECORATORS):
                return True
        if scope in asking:
            return True
        scope = scope.outer
    passed = _passed_to_script(module)
    return function is not None and bool(passed) and function.outermost.node.name in passed


@lru_cache(maxsize=8)
def _asking(module: Module) -> frozenset[FunctionDefinition]:
    """Return the functions that test whether TorchScript runs them."""
    if b"is_scripting" not in module.source.content:
        return frozenset()
    return frozenset(
        function
        for function in module.functions
        if any(node.attr == "is_scripting" for node in function.nodes.attributes)
    )


def speaks_to_script(module: Module) -> bool:
    """Return whether the file uses ``torch.jit``, to compile or to trace. TorchScript also compiles its callees.

    Under ``torch.jit.trace`` a size is a Tensor, which no check and no symbolic helper accepts.
    """
    return _TO_SCRIPT.search(module.source.content) is not None


_HOST = ("cv2.", "PIL.", "builtins.open", "triton.next_power_of_2")
_OF_HOST = frozenset({"numpy", "named_modules", "named_parameters", "state_dict", "load_state_dict"})


def on_host(module: Module, function: FunctionDefinition, *, asked: bool) -> bool:
    """Return whether a function runs on real values only, so that it never sees an undecided size.

    Such a function is a constructor, or passes data to numpy, to an image library or to a file. It may also work on a
    model's modules and weights, or configure a kernel by the bits of a size. A function that merely calls numpy gets no
    default (``asked``), but a check or ``torch.sym_min`` does no harm there.
    """
    hosts = ("numpy.", *_HOST) if asked else _HOST
    if function.outermost.node.name in ("__init__", "__new__"):
        return True
    for call in function.outermost.nodes.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_HOST:
            return True
        if (module.names.meaning(call.func) or "").startswith(hosts):
            return True
    return False


@lru_cache(maxsize=8)
def _passed_to_script(module: Module) -> set[str]:
    if b"jit.script(" not in module.source.content:
        return set()
    return {
        call.args[0].id
        for call in module.nodes.calls
        if call.args and isinstance(call.args[0], ast.Name) and spelled(call.func).endswith("jit.script")
    }


def foreign_decorator(module: Module, function: FunctionDefinition | None) -> str | None:
    """Return the first decorator around ``function`` that may change Python's semantics, as text, or None.

    Some decorators pass a function's source to another compiler. Exempt are those of the standard library, of pytest
    and of torch (see `scripted` for TorchScript's), and PyTorch's own in its own tree. A decorator of the same file
    that only calls, stores or returns the function is exempt too.
    """
    for node in (function.node, *function.around) if function else ():
        for decorator in node.decorator_list:
            if not _known(module, decorator):
                return ast.unparse(decorator)
    return None


def _known(module: Module, decorator: ast.expr) -> bool:
    own_tree = module.own_tree
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    meaning = module.names.meaning(named)
    if meaning is not None:
        return meaning.startswith(_LEAVING_ALONE) or (meaning.startswith(".") and own_tree)
    if isinstance(named, ast.Attribute):
        return named.attr in ("setter", "getter", "deleter") or _made_by_torch(module, named)
    if not isinstance(named, ast.Name) or module.names.owner(named.id, decorator) is not module.tree:
        return False
    made = module.names.defined_at_top.get(named.id)
    if made is None:
        return own_tree and named.id in module.names.bound
    factory = isinstance(decorator, ast.Call)
    inner = [one for one in module.functions if one.outer is made]
    return own_tree or any(_only_wraps(module, one) for one in (inner if factory else [made]))


def _made_by_torch(module: Module, named: ast.Attribute) -> bool:
    """Return whether a decorator is a method of a torch object: ``aten.pad.default.py_impl``, ``library.impl``."""
    root: ast.expr = named
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or module.names.owner(root.id, named) is not module.tree:
        return False
    if module.own_tree:
        return root.id in module.names.bound
    decorated = module.names.defined_at_top.get(root.id)
    if decorated is not None:
        # ``op.register_fake`` of a custom operator.
        return registered(module, decorated) is not None
    made = module.names.assigned_at_top.get(root.id)
    maker = made.func if isinstance(made, ast.Call) else made
    return maker is not None and (module.names.meaning(maker) or "").startswith("torch.")


def _only_wraps(module: Module, decorator: FunctionDefinition) -> bool:
    """Return whether it only calls, wraps, inspects, stores or returns its first parameter."""
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


def obstacle(
    place: Place, context: Context, *, default: bool = False, scriptable: bool = False
) -> tuple[str, str] | None:
    """Return why no fix may be written at a place, as (reason, detail), or None.

    ``default``: the new text chooses the path of an undecided size. ``scriptable``: TorchScript compiles the new text.
    """
    module, function = place.module, place.function
    if module.own_tree and _OTHERS & set(module.source.path.parts):
        return "third-party", "vendored and test code of PyTorch is changed where it comes from, or by hand"
    if context.tried and context.drop_torchscript:
        return _obstacle_of_place(place)
    if scripted(module, function):
        return "torchscript", "TorchScript compiles this function and knows no symbolic helper"
    if _is_scripted_by_torch(module, function, context):
        return "torchscript", "torch passes this function to TorchScript, which knows no symbolic helper"
    if not context.tried:
        found = _unproven(module, function, context, default, scriptable)
    else:
        found = None if scriptable else torchscript_obstacle(module, function, context)
    return found or _obstacle_of_place(place)


def _obstacle_of_place(place: Place) -> tuple[str, str] | None:
    """Return why code at a place may not run as Python, or not while torch compiles."""
    foreign = foreign_decorator(place.module, place.function)
    if foreign:
        return "unknown-decorator", f"`@{foreign}` may hand this function to another compiler"
    if is_eager_only(place):
        return "host-code", "this code does not run while torch compiles, so no undecided size reaches it"
    return None


def _is_scripted_by_torch(module: Module, function: FunctionDefinition | None, context: Context) -> bool:
    if not module.own_tree or function is None:
        return False
    return context.api.is_scripted(f"{module.torch_name}.{function.outermost.qualname}")


def _unproven(
    module: Module, function: FunctionDefinition | None, context: Context, default: bool, scriptable: bool
) -> tuple[str, str] | None:
    """Return the obstacles for a fix that no run of a user's program proves."""
    if module.own_tree:
        return None if scriptable else torchscript_obstacle(module, function, context)
    seen = None if function is None else registered(module, function)
    if default and seen is DispatchedTensors.REAL:
        return "host-code", "a custom operator's function is called with real tensors only: sizes are integers here"
    if not is_traced(module, function, context):
        return "no-evidence", "no evidence that this function is traced: --modules or --all-functions assumes it"
    if seen is DispatchedTensors.FAKE:
        return None
    if speaks_to_script(module):
        return "torchscript", "the file uses TorchScript, which may compile this function and knows no helper"
    if function is not None and on_host(module, function, asked=default):
        return "host-code", "this runs on real values only: a constructor, or a function that works on the host"
    return None if scriptable else torchscript_obstacle(module, function, context)


def torchscript_obstacle(
    module: Module, function: FunctionDefinition | None, context: Context
) -> tuple[str, str] | None:
    """Return why code that TorchScript can't compile may not be inserted, as (reason, detail), or None."""
    if function is None or refused_by_script(module, function) or _is_private(module, function):
        return None
    if context.tried and not module.source.package_speaks:
        # The tested program does not script it, and there is no evidence that another one does.
        return None
    if registered(module, function) is DispatchedTensors.FAKE:
        return None
    if module.source.package_speaks:
        return "torchscript", "the package supports TorchScript, which may compile this function and knows no helper"
    if context.drop_torchscript:
        return None
    return (
        "torchscript",
        "`torch.jit.script` compiles this function now and could not after the change: --drop-torchscript allows it",
    )


def _is_private(module: Module, function: FunctionDefinition) -> bool:
    """Return whether only torch itself may script a function of PyTorch.

    It is in a private module, or in a class that inherits, but not from a module. TorchScript compiles no such class.
    """
    if not module.own_tree:
        return False
    if any(name.startswith("_") for name in module.torch_name.split(".")):
        return True
    around = function.outermost.around
    return bool(around) and isinstance(around[0], ast.ClassDef) and _inherits_plainly(module, around[0])


def _inherits_plainly(module: Module, derived: ast.ClassDef) -> bool:
    """Return whether a class has bases that are all made in C++ or defined in the file without unknown bases."""
    at_top = {one.name: one for one in module.tree.body if isinstance(one, ast.ClassDef)}
    pending, found = list(derived.bases), bool(derived.bases)
    while pending:
        base = pending.pop()
        if isinstance(base, ast.Name) and base.id in at_top:
            pending += at_top.pop(base.id).bases
        elif not (module.names.meaning(base) or "").startswith("torch._C."):
            return False
    return found


def is_eager_only(place: Place) -> bool:
    """Return whether ``torch.compiler.is_compiling()`` keeps a place from being traced.

    The test is an ``if`` around the place, or an earlier operand of the same ``and``.
    """
    below: ast.AST = place.node
    for above in place.ancestors:
        module = place.module
        if isinstance(above, ast.BoolOp) and isinstance(above.op, ast.And) and isinstance(below, ast.expr):
            if any(_is_eager(module, one) for one in above.values[: above.values.index(below)]):
                return True
        elif isinstance(above, ast.If) and below in above.body:
            test = above.test
            both = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
            if any(_is_eager(module, one) for one in both):
                return True
        elif isinstance(above, ast.If) and below in above.orelse and _holds_while_compiling(module, above.test):
            return True
        below = above
    return False


def _holds_while_compiling(module: Module, test: ast.expr) -> bool:
    """Return whether a test is ``is_compiling()``, or ``not torch.jit.is_scripting() and is_compiling()``."""
    *others, last = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return _is_compiling(module, last) and all(
        isinstance(one, ast.UnaryOp)
        and isinstance(one.operand, ast.Call)
        and module.names.meaning(one.operand.func) == "torch.jit.is_scripting"
        for one in others
    )


def _is_eager(module: Module, condition: ast.expr) -> bool:
    if not isinstance(condition, ast.UnaryOp) or not isinstance(condition.op, ast.Not):
        return False
    return _is_compiling(module, condition.operand)


def _is_compiling(module: Module, condition: ast.expr) -> bool:
    return isinstance(condition, ast.Call) and module.names.meaning(condition.func) in _COMPILING
