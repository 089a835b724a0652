"""Loops that add one value of each row to a total: a sum, or ``cumsum``, in the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ...codemods.model.rule import Context, Fix
from ..analysis.flow.blocks import bound_before, read_after
from ..analysis.flow.collected_rows import collected
from ..analysis.flow.row_steps import RowSteps, StepLoop, steps_of
from ..analysis.must.effects import require_pure
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.qualified_names import spelled_out
from ..syntax.module import Module
from .program_branch import ProgramBranch, grouped
from .stacked_steps import mapping
from .whole_rows import WholeRows

NAME = "use_sum"


def totalled(module: Module, loop: StepLoop, context: Context) -> Iterator[Fix]:
    """``for i in range(n): total = total + f(x[i])`` → ``total = total + f(x).sum(0)``. Raises CannotRewrite."""
    steps = steps_of(module, loop) if isinstance(loop, ast.For) else None
    added = None if steps is None or not steps.body else _added(steps.body[-1])
    if steps is None or added is None or not isinstance(loop, ast.For):
        return
    total, value = added
    body, branch = steps.body[:-1], ProgramBranch(module, context, [loop])
    _require_sum(module, steps, total, [*body, value])
    head = module.source.content[module.span(steps.body[-1])[0] : module.grouped_span(value)[0]].decode()
    message = f"add up `{ast.unparse(value)}` of all rows at once"
    for before, text, needs in _all(steps, body, value, branch, context):
        yield branch.fix(NAME, [*before, f"{head}{text}"], message, needs)


def accumulated(module: Module, loop: StepLoop, context: Context) -> Iterator[Fix]:
    """``total = total + f(x[i]); out.append(total)`` → ``torch.stack(out)`` is ``total + f(x).cumsum(0)``.

    Raises CannotRewrite.
    """
    found = collected(module, loop)
    if found is None or not found.body or found.behind or not found.stacks or found.dimension:
        return
    added = _added(found.body[-1])
    if added is None or ast.unparse(found.value) != added[0] or not isinstance(loop, ast.For):
        return
    total, value = added
    if isinstance(found.body[-1], ast.AugAssign):
        detail = f"at line {found.value.lineno} the list holds `{total}`, which the next step changes in place"
        raise CannotRewrite("changes-in-place", detail)
    _require_sum(module, found.steps, total, [*found.body[:-1], value])
    if total in read_after(module, [loop]):
        raise CannotRewrite("step-depends", f"at line {value.lineno} `{total}` is read behind the loop, too")
    branch = ProgramBranch(module, context, found.statements)
    message = f"add up `{ast.unparse(value)}` of the rows so far at once"
    for before, text, needs in _all(found.steps, found.body[:-1], value, branch, context):
        sums = text.removesuffix(".sum(0)")
        if sums != text:
            line = branch.joined(found.join, f"{total} + {sums}.cumsum(0)")
            yield branch.fix(NAME, [*before, line], message, needs)


def _added(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """Return the name of the total and what a statement adds to it, or None for another statement."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return (statement.target.id, statement.value) if isinstance(statement.target, ast.Name) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Name) or not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return None
    first = isinstance(value.left, ast.Name) and value.left.id == target.id
    return (target.id, value.right) if first else None


def _require_sum(module: Module, steps: RowSteps, total: str, parts: Sequence[ast.AST]) -> None:
    """Raise CannotRewrite unless a step does nothing but add a value that does not depend on the total."""
    assert isinstance(steps.node, ast.For)
    require_pure(module, parts)
    reads = {one.id for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)}
    if total in reads:
        raise CannotRewrite("step-depends", f"at line {steps.body[-1].lineno} what a step adds depends on `{total}`")
    if any(part.is_number for one in parts for _, part in steps.parts(one)):
        raise CannotRewrite("number-of-python", f"at line {steps.body[-1].lineno} a step adds a number of Python's")
    if total not in bound_before(module, steps.node):
        raise CannotRewrite("bound-on-one-side", f"at line {steps.node.lineno} `{total}` may have no value before")


def _all(
    steps: RowSteps, body: Sequence[ast.stmt], value: ast.expr, branch: ProgramBranch, context: Context
) -> Iterator[tuple[list[str], str, tuple[str, ...]]]:
    """Yield the lines in front of a sum, the sum of the values, and what it needs. Raises CannotRewrite."""
    if not body:
        try:
            rows = WholeRows(steps)
            text, along = rows.text(value), rows.dimension(value)
        except CannotRewrite:
            pass
        else:
            kept = any(part.is_kept for _, part in steps.parts(value))
            yield [], f"{grouped(text)}.sum({along}{', keepdim=True' if kept else ''})", ()
    vmap = spelled_out(branch.module, steps.node, "torch.vmap", context)
    before, call = mapping(steps, body, value, branch.layout, vmap.text)
    yield before, f"{call}.sum(0)", vmap.needs
