"""Loops over runs of rows, each of a length read from a tensor: a sum by owner in the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ...codemods.model.rule import Context, Fix
from ..analysis.flow.blocks import given_by, is_read_behind
from ..analysis.flow.collected_rows import Collected, collected
from ..analysis.flow.row_steps import StepLoop
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.qualified_names import spelled_out
from ..syntax.module import Module
from ..syntax.tree import literal
from .local_functions import NameChooser
from .program_branch import ProgramBranch, named_once

NAME = "use_segment_sum"
_REDUCTIONS = ("sum", "mean", "amax", "amin", "prod")


@dataclass(frozen=True)
class _Run:
    """A run of rows of a tensor that a step reduces, with the texts of the tensor and of the lengths."""

    rows: str
    lengths: str
    covers: bool
    """True if the runs together are the whole tensor."""


def summed(module: Module, loop: StepLoop, context: Context) -> Iterator[Fix]:
    """``out.append(x[start : start + n].sum(0)); start += n`` → ``zeros.index_add(0, owners, x)``; ``mean`` likewise.

    Raises CannotRewrite.
    """
    found = collected(module, loop)
    if found is None or not found.stacks or found.dimension:
        return
    reduced = _reduced(found)
    run = None if reduced is None else (_of_split(found, reduced[1]) or _of_start(found, reduced[1]))
    if reduced is None or run is None:
        return
    kind = reduced[0]
    if kind not in ("sum", "mean"):
        detail = f"at line {found.value.lineno} `{kind}` of an empty run raises, or has no value to begin with"
        raise CannotRewrite("not-a-sum", detail)
    chooser = NameChooser(module)
    counts, named = named_once(chooser, "counts", run.lengths)
    owners = chooser.choose("owners")
    arange = spelled_out(module, loop, "torch.arange", context)
    made = f"{arange.text}({counts}.size(0), device={counts}.device).repeat_interleave({counts})"
    # A slice that goes beyond the last row is shorter.
    made, rows = (
        (made, run.rows) if run.covers else (f"{made}[: {run.rows}.size(0)]", f"{run.rows}[: {owners}.size(0)]")
    )
    text = f"{run.rows}.new_zeros(({counts}.size(0), *{run.rows}.shape[1:])).index_add(0, {owners}, {rows})"
    needs = arange.needs
    if kind == "mean":
        ones = spelled_out(module, loop, "torch.ones_like", context)
        number = f"{owners}.new_zeros({counts}.size(0)).index_add(0, {owners}, {ones.text}({owners}))"
        text = f"{text} / {number}.view(-1, *[1] * ({run.rows}.dim() - 1))"
        needs = (*needs, *ones.needs)
    branch = ProgramBranch(module, context, found.statements)
    lines = [*named, f"{owners} = {made}", branch.joined(found.join, text)]
    message = f"reduce all runs of rows at once: `{ast.unparse(found.value)}`"
    yield branch.fix(NAME, lines, message, needs)


def _reduced(found: Collected) -> tuple[str, ast.expr] | None:
    """Return the name of the reduction of a step along its rows, and the rows; None for another value."""
    call = found.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    of_torch = found.steps.module.names.meaning(call.func) == f"torch.{call.func.attr}"
    given = list(call.args) if of_torch else [call.func.value, *call.args]
    places = [one.value for one in call.keywords if one.arg in ("dim", "axis")] or given[1:]
    whole = len(given) + len(call.keywords) == 2 and len(places) == 1
    if not whole or literal(places[0]) != 0 or call.func.attr not in _REDUCTIONS:
        return None
    return call.func.attr, given[0]


def _of_split(found: Collected, rows: ast.expr) -> _Run | None:
    """``for part in x.split(lengths.tolist())``."""
    part, steps = found.steps.part(rows), found.steps
    if part is None or part.lengths is None or not found.is_one_value:
        return None
    return _Run(steps.text(part.tensor), steps.text(part.lengths), covers=True)


def _of_start(found: Collected, rows: ast.expr) -> _Run | None:
    """``x[start : start + n]``, where ``start`` goes on by ``n``. Raises CannotRewrite."""
    steps, module = found.steps, found.steps.module
    if not isinstance(rows, ast.Subscript) or not isinstance(rows.slice, ast.Slice) or rows.slice.step is not None:
        return None
    start = rows.slice.lower
    if not isinstance(start, ast.Name) or rows.slice.upper is None or not isinstance(steps.node, ast.For):
        return None
    named = {ast.unparse(one.targets[0]): one.value for one in found.body if isinstance(one, ast.Assign)}
    upper = named.get(ast.unparse(rows.slice.upper), rows.slice.upper)
    if len(named) != len(found.body) or len(found.behind) != 1 or not isinstance(upper, ast.BinOp):
        return None
    count = steps.number(upper.right)
    goes_on = _goes_on(found.behind[0], start.id)
    if count is None or ast.unparse(upper.left) != start.id or goes_on not in (
        ast.unparse(upper.right), ast.unparse(upper), ast.unparse(rows.slice.upper),
    ):  # fmt: skip
        return None
    if is_read_behind(module, steps.node, start.id) or not _begins_at_zero(module, steps.node, start.id):
        raise CannotRewrite("step-depends", f"at line {rows.lineno} `{start.id}` is used otherwise, too")
    return _Run(steps.text(rows.value), steps.whole(count), covers=False)


def _goes_on(statement: ast.stmt, start: str) -> str:
    """Return what a statement adds to the start, or its new value."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return ast.unparse(statement.value) if ast.unparse(statement.target) == start else ""
    plain = isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == start
    return ast.unparse(statement.value) if plain and isinstance(statement, ast.Assign) else ""


def _begins_at_zero(module: Module, loop: ast.For, name: str) -> bool:
    function = module.function_of(loop)
    inside = {id(one) for one in ast.walk(loop)}
    assigns = () if function is None else function.nodes.assigns
    given = [value for one in assigns if id(one) not in inside for value in given_by(one, name)]
    return len(given) == 1 and literal(given[0]) == 0
