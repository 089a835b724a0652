"""Loops that add to, write or take rows at indexes read from a tensor: one indexed operation in the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix
from ..analysis.flow.row_steps import Part, RowSteps, StepLoop, is_never_negative, steps_of
from ..analysis.must.effects import is_number
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.qualified_names import spelled_out
from ..syntax.module import Module
from .program_branch import ProgramBranch
from .whole_rows import WholeRows

NAME = "use_index"


def indexed(module: Module, loop: StepLoop, context: Context) -> Iterator[Fix]:
    """``out[k] += x[i]`` → ``out.index_add_(0, index, x)``; ``out[i] = x[k]`` and ``out[i, k] = 1`` likewise.

    Raises CannotRewrite.
    """
    steps = steps_of(module, loop) if isinstance(loop, ast.For) else None
    only = steps.body[0] if steps is not None and len(steps.body) == 1 else None
    if steps is None or not isinstance(only, (ast.Assign, ast.AugAssign)) or not isinstance(loop, ast.For):
        return
    target = only.targets[0] if isinstance(only, ast.Assign) else only.target
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return
    tensor = target.value
    if tensor.id in {part.id for part in ast.walk(only.value) if isinstance(part, ast.Name)}:
        raise CannotRewrite("step-depends", f"at line {only.lineno} a step reads `{tensor.id}`, which steps write")
    branch = ProgramBranch(module, context, [loop])
    if isinstance(only, ast.AugAssign):
        line = _added(module, steps, only, target, context)
    else:
        line = _written(module, steps, only, target, context)
    if line:
        needs = spelled_out(module, loop, "torch.where", context).needs
        message = f"do the steps of `{ast.unparse(only)}` at once"
        yield branch.fix(NAME, [line], message, needs)


def _added(module: Module, steps: RowSteps, only: ast.AugAssign, target: ast.Subscript, context: Context) -> str:
    """Return the line for ``out[k] += value``. Equal indexes add up in the order of the steps."""
    index = steps.number(target.slice)
    if index is None or not isinstance(only.op, (ast.Add, ast.Sub)):
        return ""
    tensor, at = steps.text(target.value), _from_front(module, steps, index, target.value, context)
    if is_number(module, only.value):
        full = spelled_out(module, only, "torch.full_like", context).text
        source = f"{full}({steps.whole(index)}, {steps.text(only.value)}, dtype={tensor}.dtype)"
    else:
        rows = WholeRows(steps)
        source = rows.text(only.value)
        if rows.dimension(only.value):
            return ""
    alpha = ", alpha=-1" if isinstance(only.op, ast.Sub) else ""
    return f"{tensor}.index_add_(0, {at}, {source}{alpha})"


def _written(module: Module, steps: RowSteps, only: ast.Assign, target: ast.Subscript, context: Context) -> str:
    """Return the line for ``out[i] = x[k]`` and ``out[i, k] = value``, in which no place is written twice."""
    value, places = only.value, list(target.slice.elts) if isinstance(target.slice, ast.Tuple) else [target.slice]
    if steps.number(places[0]) is not None:
        detail = (
            f"at line {only.lineno} two steps may write one place, of which the last stays; "
            "write `index_add_`, or `index_copy_` if no index comes twice"
        )
        raise CannotRewrite("duplicate-places", detail)
    if not steps.is_index(places[0]) or len(places) > 2:
        return ""
    row = steps.part(ast.Subscript(target.value, places[0], ast.Load()))
    if row is None:
        return ""
    rows = steps.whole(row)
    if len(places) == 2:
        column = steps.number(places[1])
        if column is None:
            return ""
        arange = spelled_out(module, only, "torch.arange", context).text
        device = f"{steps.text(column.tensor)}.device"
        source = steps.text(value) if is_number(module, value) else WholeRows(steps).text(value)
        return f"{rows}[{arange}({steps.count}, device={device}), {steps.whole(column)}] = {source}"
    taken = _taken(steps, value)
    return f"{rows}[:] = {taken}" if taken else ""


def _taken(steps: RowSteps, value: ast.expr) -> str:
    """Return the rows of ``x[k]`` for all steps."""
    if (
        not isinstance(value, ast.Subscript)
        or {one.id for one in ast.walk(value.value) if isinstance(one, ast.Name)} & steps.bound
    ):
        return ""
    index = steps.number(value.slice)
    return "" if index is None else f"{steps.text(value.value)}[{steps.whole(index)}]"


def _from_front(module: Module, steps: RowSteps, index: Part, tensor: ast.expr, context: Context) -> str:
    """Return the text of indexes that count from the front. A negative index counts from behind."""
    text = steps.whole(index)
    if is_never_negative(module, index.tensor):
        return text
    where = spelled_out(module, steps.node, "torch.where", context).text
    return f"{where}({text} < 0, {text} + {steps.text(tensor)}.size(0), {text})"
