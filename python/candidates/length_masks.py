"""Loops that write a row up to a length, or take it so far: one comparison of places with lengths in the program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...codemods.model.rule import Context, Fix
from ..analysis.flow.collected_rows import collected
from ..analysis.flow.row_steps import RowSteps, StepLoop, is_never_negative, steps_of
from ..analysis.must.effects import is_number
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..rewrite.qualified_names import Spelled, spelled_out
from ..syntax.module import Module
from ..syntax.tree import literal
from .local_functions import NameChooser
from .program_branch import ProgramBranch, grouped, named_once
from .whole_rows import WholeRows

NAME = "use_length_mask"


def masked(module: Module, loop: StepLoop, context: Context) -> Iterator[Fix]:
    """``for i, n in enumerate(lengths.tolist()): m[i, :n] = 1`` → ``m[arange(m.size(1)) < lengths[:, None]] = 1``.

    Raises CannotRewrite.
    """
    steps = steps_of(module, loop) if isinstance(loop, ast.For) else None
    if steps is None or not steps.index:
        return
    writer = _MaskWriter(module, steps, context)
    lines: list[str] = []
    written: set[str] = set()
    asked: set[str] = set()
    for one in steps.body:
        target = one.targets[0] if isinstance(one, ast.Assign) and len(one.targets) == 1 else None
        place = None if target is None else writer.place(target)
        if place is None or not isinstance(one, ast.Assign):
            return
        tensor, ends = place
        if not is_number(module, one.value):
            raise CannotRewrite("several-values", f"at line {one.lineno} what is written may have several elements")
        written.add(ast.unparse(tensor))
        asked |= {ast.unparse(part.tensor) for _, part in steps.parts(ends)}
        mask, before = writer.mask(tensor, ends)
        lines += [*before, f"{writer.rows(tensor)}[{mask}] = {steps.text(one.value)}"]
    if written & asked:
        raise CannotRewrite("step-depends", f"at line {loop.lineno} a step reads what another one writes")
    message = f"write the rows up to their lengths at once: `{ast.unparse(steps.body[0])}`"
    assert isinstance(loop, ast.For)
    yield ProgramBranch(module, context, [loop]).fix(NAME, lines, message, writer.needs)


def packed(module: Module, loop: StepLoop, context: Context) -> Iterator[Fix]:
    """``torch.cat([x[i, :n] for i, n in enumerate(lengths.tolist())])`` → ``x[arange(x.size(1)) < lengths[:, None]]``.

    Raises CannotRewrite.
    """
    found = collected(module, loop)
    if found is None or found.stacks or found.dimension or not found.is_one_value or not found.steps.index:
        return
    writer = _MaskWriter(module, found.steps, context)
    place = writer.place(found.value)
    if place is None:
        return
    mask, before = writer.mask(*place)
    branch = ProgramBranch(module, context, found.statements)
    lines = [*before, branch.joined(found.join, f"{writer.rows(place[0])}[{mask}]")]
    message = f"take the rows up to their lengths at once: `{ast.unparse(found.value)}`"
    yield branch.fix(NAME, lines, message, writer.needs)


class _MaskWriter:
    """Writer of masks that are true up to, or from, a place in each row."""

    def __init__(self, module: Module, steps: RowSteps, context: Context) -> None:
        self._module, self._steps, self._context = module, steps, context
        self._chooser = NameChooser(module)
        self.needs: tuple[str, ...] = ()

    def place(self, node: ast.expr) -> tuple[ast.expr, ast.Slice] | None:
        """Return the tensor and the slice of ``m[i, :n]`` and ``m[i][:n]``, or None."""
        if not isinstance(node, ast.Subscript):
            return None
        tensor, index = node.value, node.slice
        places = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        if isinstance(tensor, ast.Subscript):
            places.insert(0, tensor.slice)
            tensor = tensor.value
        if len(places) != 2 or not self._steps.is_index(places[0]) or not isinstance(tensor, ast.Name):
            return None
        ends = places[1]
        if not isinstance(ends, ast.Slice) or ends.step is not None or tensor.id in self._steps.bound:
            return None
        given = [one for one in (ends.lower, ends.upper) if one is not None and literal(one) != 0]
        return (tensor, ends) if given and all(map(self._is_count, given)) else None

    def mask(self, tensor: ast.expr, ends: ast.Slice) -> tuple[str, list[str]]:
        """Return the text of a mask of one row for each step, and the lines that go before."""
        width = f"{self._steps.text(tensor)}.size(1)"
        lines, parts = [], []
        for end, order in ((ends.lower, ">="), (ends.upper, "<")):
            if end is None or literal(end) == 0:
                continue
            text, made = self._end(end, width)
            lines += made
            parts.append(f"{self._torch('arange').text}({width}, device={self._device(end)}) {order} {text}")
        return (parts[0] if len(parts) == 1 else " & ".join(f"({one})" for one in parts)), lines

    def rows(self, tensor: ast.expr) -> str:
        """Return the text of the rows of a tensor that the steps go through."""
        part = self._steps.part(ast.Subscript(tensor, ast.Name(self._steps.index, ast.Load()), ast.Load()))
        assert part is not None
        return self._steps.whole(part)

    def _is_count(self, node: ast.expr) -> bool:
        """Return whether an expression is a number of the step, or one with a constant added."""
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)) and literal(node.right) is not None:
            return self._is_count(node.left)
        return self._steps.number(node) is not None

    def _end(self, end: ast.expr, width: str) -> tuple[str, list[str]]:
        """Return the ends of all steps as a column. A negative end counts from behind."""
        text = WholeRows(self._steps).replaced(end)
        part = self._steps.number(end)
        if part is not None and is_never_negative(self._module, part.tensor):
            return f"{grouped(text)}[:, None]", []
        counts, named = named_once(self._chooser, "counts", text)
        where, name = self._torch("where").text, self._chooser.choose("ends")
        return f"{name}[:, None]", [*named, f"{name} = {where}({counts} < 0, {counts} + {width}, {counts})"]

    def _device(self, end: ast.expr) -> str:
        _, part = next(self._steps.parts(end))
        return f"{self._steps.text(part.tensor)}.device"

    def _torch(self, name: str) -> Spelled:
        spelled = spelled_out(self._module, self._steps.node, f"torch.{name}", self._context)
        self.needs = (*self.needs, *spelled.needs)
        return spelled
