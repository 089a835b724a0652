"""Decisions on the values of tensors, and loops over rows: what can be written, in order, and why the rest can't.

``torch.where`` comes first if both sides never raise and cost little, ``torch.cond`` if one of them is expensive or may
raise. The user's preference comes first if it can be written.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ...codemods.model.rule import Context, Fix
from ...codemods.model.source_file import SourceFile
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.must.pointwise import Cost
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..syntax.module import Module, parse
from .length_masks import masked
from .mapped_rows import mapped
from .torch_cond import conditional
from .torch_where import highest_cost, selected
from .torch_while_loop import looped, unrolled

_Write = Callable[[Module, ast.If | ast.IfExp, Context], Iterator[Fix]]


def of_values(module: Module, node: ast.If | ast.IfExp, context: Context) -> Iterator[Fix]:
    """Yield the fixes for one choice, that which is to be taken first in front."""
    for write in _ordered(module, node, context):
        try:
            yield from write(module, node, context)
        except CannotRewrite:
            continue


def of_loops(module: Module, where: tuple[int, int], context: Context) -> Iterator[Fix]:
    """Yield the fixes for a loop that values end, with its head or ``break`` inside the byte range ``where``."""
    for loop in _loops(module, where):
        if obstacle(module.place(loop), context, default=True) is not None:
            continue
        for write in (looped, unrolled):
            try:
                yield from write(module, loop, context)
            except CannotRewrite:
                continue


def of_rows(module: Module, where: tuple[int, int], context: Context) -> Iterator[Fix]:
    """Yield the fixes for a loop over the rows of a tensor whose head, list or step is at a byte range."""
    for loop in _row_loops(module, where):
        if obstacle(module.place(loop), context, default=True) is not None:
            continue
        for write in _row_writers(loop):
            try:
                yield from write(module, loop, context)
            except CannotRewrite:
                continue


def refused(source: SourceFile, context: Context, line: int) -> list[tuple[str, str]]:
    """Return what could not be written for a decision at a line (from 1), each with the reason and its place."""
    module = parse(source)
    found = []
    choices: list[ast.If | ast.IfExp] = [*module.nodes.ifs, *module.nodes.every(ast.IfExp)]
    for node in choices:
        if node.test.lineno <= line <= (node.test.end_lineno or node.test.lineno):
            found += [_why(write, module, node, context) for write in _ordered(module, node, context)]
    start, end = source.line_start(line), source.line_start(line + 1)
    for loop in _loops(module, (start, end)):
        found += [_why(write, module, loop, context) for write in (looped, unrolled)]
    for rows in _row_loops(module, (start, end)):
        found += [_why(write, module, rows, context) for write in _row_writers(rows)]
    return [one for one in dict.fromkeys(found) if one is not None]


def _why(
    write: Callable[..., Iterator[Fix]], module: Module, node: ast.AST, context: Context
) -> tuple[str, str] | None:
    try:
        for _ in write(module, node, context):
            return None
    except CannotRewrite as unfit:
        return _NAMES[write], f"{unfit.reason}: {unfit.detail}"
    return None


_NAMES: dict[object, str] = {
    selected: "use_where",
    conditional: "use_cond",
    looped: "use_while_loop",
    unrolled: "use_cond in each step",
    mapped: "use_vmap",
    masked: "use_length_mask",
}


def _ordered(module: Module, node: ast.If | ast.IfExp, context: Context) -> tuple[_Write, _Write]:
    cheap = highest_cost(module, node) is Cost.CHEAP
    first = context.prefer == "where" or (cheap and context.prefer != "cond")
    return (selected, conditional) if first else (conditional, selected)


def _loops(module: Module, where: tuple[int, int]) -> Iterator[ast.While | ast.For]:
    """Yield the loops that decide inside a range to go on: by their head, or by an ``if`` that leaves them."""
    loops: list[ast.While | ast.For] = [*module.nodes.every(ast.While), *module.nodes.every(ast.For)]
    for loop in loops:
        asked = [loop.test if isinstance(loop, ast.While) else loop.iter]
        asked += [one.test for one in loop.body if isinstance(one, ast.If) and _leaves(one)]
        if any(_is_inside(module, one, where) for one in asked):
            yield loop


def _row_writers(loop: ast.For | ast.ListComp) -> tuple[Callable[..., Iterator[Fix]], ...]:
    return (masked, mapped) if isinstance(loop, ast.For) else (mapped,)


def _row_loops(module: Module, where: tuple[int, int]) -> Iterator[ast.For | ast.ListComp]:
    for loop in module.nodes.every(ast.For):
        if any(_is_inside(module, one, where) for one in (loop.iter, *loop.body)):
            yield loop
    yield from (one for one in module.nodes.every(ast.ListComp) if _is_inside(module, one, where))


def _is_inside(module: Module, node: ast.AST, where: tuple[int, int]) -> bool:
    start, end = module.span(node)
    return where[0] <= start and end <= where[1]


def _leaves(branch: ast.If) -> bool:
    return isinstance(branch.body[-1], (ast.Break, ast.Return))
