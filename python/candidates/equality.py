"""Fixes for comparisons of tensors and shapes whose values or sizes are unknown in the trace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.edit import Edit
from ...codemods.model.rule import Context, Fix, Safety, Skip
from ..rewrite.change_types import Unless
from ..rewrite.findings import change, fix
from ..rewrite.qualified_names import COMPILING, guarded, spell
from ..syntax.module import Module


def equal_in_eager(rule: str, module: Module, call: ast.Call, context: Context) -> Iterator[Fix]:
    """Yield the fix ``torch.equal(a, b)`` → ``not torch.compiler.is_compiling() and torch.equal(a, b)``.

    It is right for a shortcut whose general path is right for equal tensors too. Equal inputs must show that. A
    condition that decides about an exception is unchanged.
    """
    if module.names.meaning(call.func) != "torch.equal" or not context.tried or may_refuse(module, call):
        return
    compiling = spell(module, call, COMPILING, context)
    if compiling is None:
        return
    text = module.text(call).decode()
    words = f"while compiling `{text}` is taken as false: equal tensors go the general way"
    message = f"ask `{text}` in eager only"
    changes = [(call, Unless(compiling.text))]
    made = change(rule, module.place(call), changes, message, compiling.needs, [words], Safety.UNSAFE)
    if not isinstance(made, Skip):
        yield made


def may_refuse(module: Module, part: ast.expr) -> bool:
    """Return whether the statement of a condition raises on one of its sides."""
    statement = next(one for one in module.place(part).ancestors if isinstance(one, ast.stmt))
    return isinstance(statement, ast.Assert) or any(
        isinstance(one, ast.Raise) for one in ast.walk(statement) if isinstance(statement, ast.If)
    )


def equal_dimensions(rule: str, module: Module, atom: ast.Compare, context: Context, *, truth: bool) -> Iterator[Fix]:
    """Yield the fix that compares ``x.shape == y.shape`` by dimension, with ``truth`` for each undecided one.

    This form is for releases in which dynamo refuses ``sym_eq``.
    """
    shapes = [atom.left, *atom.comparators]
    guard = spell(module, atom, guarded(f"guard_or_{str(truth).lower()}"), context)
    statement = next(one for one in module.place(atom).ancestors if isinstance(one, ast.stmt))
    names = {one.id for one in ast.walk(statement) if isinstance(one, ast.Name)}
    if guard is None or not all(isinstance(one, ast.Attribute) and one.attr == "shape" for one in shapes):
        return
    left, right = (module.text(one).decode() for one in shapes)
    first, second = [one for one in _LETTERS if one not in names][:2]
    equal = f"all({guard.text}({first} == {second}) for {first}, {second} in zip({left}, {right}))"
    whole = f"len({left}) == len({right}) and {equal}"
    above = module.parents[atom]
    bare = isinstance(above, ast.stmt) or (isinstance(above, ast.BoolOp) and isinstance(above.op, ast.And))
    text = f"not ({whole})" if isinstance(atom.ops[0], ast.NotEq) else whole if bare else f"({whole})"
    said = module.text(atom).decode()
    words = f"an undecided size in `{said}` is taken as {'equal' if truth else 'different'}"
    message = f"compare the sizes of `{said}` one by one"
    edit = Edit(*module.grouped_span(atom), text.encode())
    yield fix(rule, module.place(atom), [edit], message, guard.needs, [words], Safety.UNSAFE)


_LETTERS = ("n", "m", "k", "j", "size", "other")
