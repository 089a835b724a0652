"""Uses that make a constant of a symbolic size."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ....codemods.model.rule import Context, Skip
from ....codemods.model.source_file import SourceFile
from ...syntax.module import Module, parse
from .flow import Flow, flow

NAME = "concrete-use"
_GUARDS = frozenset({"guard_int", "guard_scalar", "guard_bool", "guard_float", "hint_int", "optimization_hint"})
_NUMBERS = frozenset({"builtins.int", "builtins.float", "builtins.bool", "operator.index"})


def concrete_uses(source: SourceFile, context: Context) -> Iterator[Skip]:
    """Yield the places of a file at which a size cannot stay symbolic."""
    module = parse(source)
    known = flow(module)
    for call in module.nodes.every(ast.Call):
        detail = _detail(module, known, call)
        if detail:
            start, end = module.span(call)
            yield Skip(NAME, 4, start, end, "guard", detail)


def _detail(module: Module, known: Flow, call: ast.Call) -> str:
    text = module.text(call).decode()
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in _GUARDS:
        return f"`{text}` makes a constant of the value: every new value compiles again"
    meaning = module.names.meaning(call.func) or ""
    if meaning in _NUMBERS or meaning.startswith("math."):
        sizes = [one for one in call.args if not isinstance(one, ast.Starred) and known.kind(one).symbolic_number]
        if sizes:
            size = module.text(sizes[0]).decode()
            return f"`{text}` makes a constant of the size `{size}` where fake tensors trace"
    return ""
