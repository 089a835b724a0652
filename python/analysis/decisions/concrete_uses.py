"""Uses that make a constant of a symbolic size, or that give an undecided one a default."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ....codemods.model.rule import Context, Skip
from ....codemods.model.source_file import SourceFile
from ...syntax.module import Module, parse
from ...syntax.tree import FunctionNode
from ..flow.flow import Flow, flow
from ..types.may_types import Kind
from .branch_kind import only_raises
from .condition_leaves import check_conditions

NAME = "concrete-use"
_GUARDS = frozenset({"guard_int", "guard_scalar", "guard_bool", "guard_float", "hint_int", "optimization_hint"})
_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool", "operator.index"})
_DEFAULT = re.compile(r"(?:(guard)|\w+)_or_(true|false)\Z")


def concrete_uses(source: SourceFile, context: Context) -> Iterator[Skip]:
    """Yield the places of a file at which a size cannot stay symbolic, or at which an undecided one has a default."""
    module = parse(source)
    known = flow(module)
    checks = {id(node) for condition in check_conditions(module) for node in ast.walk(condition)}
    for call in module.nodes.every(ast.Call):
        start, end = module.span(call)
        default = _DEFAULT.match(_name(call))
        if default is not None and (default[1] or _of_torch(module, known, call)):
            yield Skip(NAME, 2, start, end, "default", _decided(module, call, default[2], id(call) in checks))
            continue
        detail = _detail(module, known, call)
        if detail:
            yield Skip(NAME, 4, start, end, "guard", detail)


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _of_torch(module: Module, known: Flow, call: ast.Call) -> bool:
    """Return whether a function of torch or a method of a Tensor is called."""
    if (module.names.meaning(call.func) or "").startswith("torch."):
        return True
    return isinstance(call.func, ast.Attribute) and known.kind(call.func.value) is Kind.TENSOR


def _detail(module: Module, known: Flow, call: ast.Call) -> str:
    text = module.text(call).decode()
    if _name(call) in _GUARDS:
        return f"`{text}` makes a constant of the value: every new value compiles again"
    meaning = module.names.meaning(call.func) or ""
    if meaning in _NUMBERS or meaning.startswith("math."):
        sizes = [one for one in call.args if not isinstance(one, ast.Starred) and known.kind(one).symbolic_number]
        if sizes:
            size = module.text(sizes[0]).decode()
            return f"`{text}` makes a constant of the size `{size}` where fake tensors trace"
    return ""


def _decided(module: Module, call: ast.Call, answer: str, in_check: bool) -> str:
    detail = f"`{module.text(call).decode()}` takes an undecided condition for {answer}"
    test = next((one for one in module.place(call).ancestors if isinstance(one, ast.stmt)), None)
    if in_check or (isinstance(test, ast.If) and only_raises(test)):
        return f"{detail} where the other side is an error: torch._check of the condition records it for run time"
    if isinstance(test, ast.If) and _may_decline(module, call):
        return f"{detail}, and guards where it is decided: statically_known_true is enough for a branch that saves time"
    return detail


def _may_decline(module: Module, node: ast.AST) -> bool:
    """Return whether the function around a node ends in ``return NotImplemented``, so that its work is optional."""
    function = next((one for one in module.place(node).ancestors if isinstance(one, FunctionNode)), None)
    last = function.body[-1] if function is not None else None
    if not isinstance(last, ast.Return) or function is None or function.name.startswith("__"):
        return False
    return isinstance(last.value, ast.Name) and last.value.id == "NotImplemented"
