"""Numbers computed from sizes that stay symbolic, where Python's own function would make them concrete."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety, Skip
from ..rewrite.change_types import Named
from ..rewrite.findings import change, fix
from ..rewrite.qualified_names import spell
from ..syntax.module import Module

_WHOLE = (ast.Lambda, ast.Return, ast.Assign)
"""Parents in which an expression needs no parentheses."""
_RECEIVERS = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)
"""Expressions that need no parentheses as the receiver of a method call."""


def symbolic_root(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``math.sqrt(n)`` → ``torch.sym_sqrt(n)``, which is `math.sqrt` for a number."""
    if module.names.meaning(call.func) != "math.sqrt":
        return
    root = spell(module, call, "torch.sym_sqrt", context)
    if root is not None:
        edit = Edit(*module.span(call.func), root.text.encode())
        message = f"keep the square root of `{module.text(call.args[0]).decode()}` symbolic"
        yield fix(rule, module.place(call), [edit], message, root.needs, (), Safety.UNSAFE)


def symbolic_complex(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``complex(x)`` → ``x if isinstance(x, torch.SymFloat) else complex(x)``.

    There is no symbolic complex number.
    """
    name = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if not isinstance(name, ast.Name) or module.names.meaning(call.func) != "builtins.complex":
        return
    number = spell(module, call, "torch.SymFloat", context)
    if number is None:
        return
    kept = f"{name.id} if isinstance({name.id}, {number.text}) else {module.text(call).decode()}"
    if not isinstance(next(iter(module.place(call).ancestors), None), _WHOLE):
        kept = f"({kept})"
    default = f"a symbolic `{name.id}` stays real: what it is multiplied with is complex"
    message = f"keep `{name.id}` symbolic"
    yield fix(rule, module.place(call), [Edit(*module.span(call), kept.encode())], message, number.needs, [default])


def scalar_tensor(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``torch.tensor(n)`` → ``torch.full((), n)``, which accepts a symbolic number."""
    full = spell(module, call, "torch.full", context)
    if module.names.meaning(call.func) != "torch.tensor" or full is None or len(call.args) != 1:
        return
    if isinstance(call.args[0], (ast.List, ast.Tuple, ast.Constant, ast.ListComp, ast.Starred)):
        return
    start, value = module.span(call)[0], module.grouped_span(call.args[0])[0]
    if b"#" in module.source.content[start:value]:
        return
    edit = Edit(start, value, f"{full.text}((), ".encode())
    said = module.text(call.args[0]).decode()
    words = f"`{said}` is taken for a number"
    yield fix(rule, module.place(call), [edit], f"fill a tensor with `{said}`", full.needs, [words], Safety.UNSAFE)


def number_of_elements(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``numpy.prod(x.shape)``, also inside of ``int()``, → ``x.numel()``."""
    shape = call.args[0] if len(call.args) == 1 and not call.keywords else None
    if module.names.meaning(call.func) != "numpy.prod" or not isinstance(shape, ast.Attribute) or shape.attr != "shape":
        return
    above = module.parents.get(call)
    whole = above if isinstance(above, ast.Call) and module.names.meaning(above.func) == "builtins.int" else call
    text = f"{module.text(shape.value).decode()}.numel()"
    edit = Edit(*module.span(whole), text.encode())
    words = f"`{module.text(shape.value).decode()}` is taken for a tensor"
    said = module.text(whole).decode()
    yield fix(rule, module.place(call), [edit], f"`{said}` leaves torch for numpy", (), [words], Safety.UNSAFE)


def first_sizes(rule: str, module: Module, calls: Sequence[ast.Call], context: Context) -> Iterator[Fix]:
    """Yield ``len(x)`` → ``x.size(0)`` for all of the calls together, and then for each.

    Only a trace shows that these are tensors. ``len`` has to return a plain integer.
    """
    measured = []
    for call in calls:
        arguments = _tried_arguments(module, call, ("builtins.len",), context)
        nested = any(isinstance(one, ast.Name) and one.id == "len" for value in arguments for one in ast.walk(value))
        if len(arguments) == 1 and not nested and isinstance(arguments[0], _RECEIVERS):
            measured.append((call, module.text(arguments[0]).decode()))
    for chosen in ([measured] if len(measured) > 1 else []) + [[one] for one in measured]:
        edits = [Edit(*module.span(call), f"{text}.size(0)".encode()) for call, text in chosen]
        words = [f"`{text}` is taken for a tensor" for _, text in chosen]
        yield fix(rule, module.place(chosen[0][0]), edits, "`len` decides the size", (), words, Safety.UNSAFE)


def symbolic_extremum(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``min(m, n)`` → ``torch.sym_min(m, n)``, or ``max``, for operands that are sizes in the trace."""
    operands = _tried_arguments(module, call, ("builtins.min", "builtins.max"), context)
    if len(operands) != 2 or not isinstance(call.func, ast.Name):
        return
    symbolic = spell(module, call, f"torch.sym_{call.func.id}", context)
    if symbolic is not None:
        said = " and ".join(f"`{module.text(one).decode()}`" for one in operands)
        words = f"{said} are taken for whole numbers"
        message = f"`{module.text(call).decode()}` decides which size is which"
        edits = [(call.func, Named(symbolic.text))]
        made = change(rule, module.place(call), edits, message, symbolic.needs, [words], Safety.UNSAFE)
        if not isinstance(made, Skip):
            yield made


def _tried_arguments(module: Module, call: ast.Call, functions: tuple[str, ...], context: Context) -> list[ast.expr]:
    """Return the positional arguments of a call of one of ``functions``, or none unless each fix is tried.

    The bound of a ``range`` is unchanged, because a loop needs a plain integer.
    """
    above = module.parents.get(call)
    counts = isinstance(above, ast.Call) and module.names.meaning(above.func) == "builtins.range"
    plain = not call.keywords and not any(isinstance(one, ast.Starred) for one in call.args)
    named = module.names.meaning(call.func) in functions
    return list(call.args) if context.tried and named and plain and not counts else []
