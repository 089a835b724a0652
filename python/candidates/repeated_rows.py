"""Loops that repeat each row by a count: ``repeat_interleave`` in the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix
from ..analysis.flow.collected_rows import Collected, collected
from ..analysis.flow.row_steps import Part, StepLoop
from ..rewrite.qualified_names import spelled_out
from ..syntax.module import Module
from ..syntax.tree import literal
from .local_functions import NameChooser
from .program_branch import ProgramBranch, named_once

NAME = "use_repeat_interleave"


def repeated(module: Module, loop: StepLoop, context: Context) -> Iterator[Fix]:
    """``torch.cat([row.expand(n, -1) for row, n in zip(x, counts.tolist())])`` → ``x.repeat_interleave(counts, 0)``.

    ``torch.full((n,), i)`` and ``torch.arange(n)`` in each step likewise. Raises CannotRewrite.
    """
    found = collected(module, loop)
    if (
        found is None
        or found.stacks
        or found.dimension
        or not found.is_one_value
        or not isinstance(found.value, ast.Call)
    ):
        return
    branch = ProgramBranch(module, context, found.statements)
    arange = spelled_out(module, loop, "torch.arange", context)
    lines = _rows(found) or _owners(found, arange.text) or _places(found, arange.text)
    if lines:
        written = [*lines[:-1], branch.joined(found.join, lines[-1])]
        message = f"repeat each row at once: `{ast.unparse(found.value)}`"
        yield branch.fix(NAME, written, message, arange.needs)


def _rows(found: Collected) -> list[str]:
    """``row.expand(n, -1)``, ``x[i : i + 1].repeat(n, 1)`` and the like."""
    call, steps = found.value, found.steps
    assert isinstance(call, ast.Call)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    fill = {"expand": -1, "repeat": 1}.get(name)
    if fill is None or not call.args or call.keywords or not isinstance(call.func, ast.Attribute):
        return []
    row, count = _row(found, call.func.value), steps.number(call.args[0])
    if row is None or count is None or any(literal(one) != fill for one in call.args[1:]):
        return []
    return [f"{steps.whole(row)}.repeat_interleave({steps.whole(count)}, dim=0)"]


def _row(found: Collected, node: ast.expr) -> Part | None:
    """Return the row that a step repeats: itself, or with a dimension in front."""
    steps = found.steps
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unsqueeze":
        node = node.func.value if len(node.args) == 1 and literal(node.args[0]) == 0 else node
    elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value is None:
        node = node.value
    part = steps.part(node)
    return part if part is not None and not (part.dimension or part.rest or part.is_number or part.lengths) else None


def _owners(found: Collected, arange: str) -> list[str]:
    """``torch.full((n,), i)``: the number of the step, once for each of its elements."""
    call, steps = found.value, found.steps
    assert isinstance(call, ast.Call)
    if steps.module.names.meaning(call.func) != "torch.full" or len(call.args) != 2:
        return []
    size, value = call.args
    only = size.elts[0] if isinstance(size, (ast.Tuple, ast.List)) and len(size.elts) == 1 else None
    count = None if only is None else steps.number(only)
    if count is None or not steps.is_index(value):
        return []
    options = "".join(f", {one.arg}={steps.text(one.value)}" for one in call.keywords)
    options = options if "device" in options else f"{options}, device={steps.text(count.tensor)}.device"
    return [f"{arange}({steps.count}{options}).repeat_interleave({steps.whole(count)})"]


def _places(found: Collected, arange: str) -> list[str]:
    """``torch.arange(n)``: the place of each element in its step."""
    call, steps = found.value, found.steps
    assert isinstance(call, ast.Call)
    if steps.module.names.meaning(call.func) != "torch.arange" or len(call.args) != 1:
        return []
    count = steps.number(call.args[0])
    if count is None or any(one.arg != "device" for one in call.keywords):
        return []
    chooser = NameChooser(steps.module)
    counts, named = named_once(chooser, "counts", steps.whole(count))
    owners = chooser.choose("owners")
    device = next((steps.text(one.value) for one in call.keywords), f"{steps.text(count.tensor)}.device")
    return [
        *named,
        f"{owners} = {arange}({counts}.size(0), device={device}).repeat_interleave({counts})",
        f"{arange}({owners}.size(0), device={device}) - ({counts}.cumsum(0) - {counts})[{owners}]",
    ]
