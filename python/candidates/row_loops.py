"""Loops over rows, or over numbers that Python reads from a tensor: what can be written for all steps at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ...codemods.model.rule import Context, Fix
from ..analysis.flow.fix_eligibility import obstacle
from ..analysis.flow.row_steps import StepLoop, is_listing
from ..analysis.types.cannot_rewrite import CannotRewrite
from ..syntax.module import Module
from .indexed_rows import indexed
from .length_masks import masked, packed
from .repeated_rows import repeated
from .running_sums import accumulated, totalled
from .segment_sums import summed
from .stacked_steps import mapped, stacked

Write = Callable[[Module, StepLoop, Context], Iterator[Fix]]
WRITERS: dict[Write, str] = {
    masked: "use_length_mask",
    packed: "use_length_mask",
    repeated: "use_repeat_interleave",
    indexed: "use_index",
    summed: "use_segment_sum",
    stacked: "use_whole_rows",
    totalled: "use_sum",
    accumulated: "use_sum",
    mapped: "use_vmap",
}


def of_steps(module: Module, where: tuple[int, int], context: Context) -> Iterator[Fix]:
    """Yield the fixes for a loop over rows or numbers that begins, or whose list is made, or stops, in a byte range."""
    for loop in step_loops(module, where):
        if obstacle(module.place(loop), context, default=True) is not None:
            continue
        for write in WRITERS:
            try:
                yield from write(module, loop, context)
            except CannotRewrite:
                continue


def step_loops(module: Module, where: tuple[int, int]) -> Iterator[StepLoop]:
    """Yield the loops with their head, a statement of theirs, or the list that they go through in a byte range."""
    nodes = module.nodes
    loops: list[StepLoop] = [*nodes.every(ast.For), *nodes.every(ast.ListComp), *nodes.every(ast.GeneratorExp)]
    for loop in loops:
        start, end = module.span(loop)
        if start <= where[0] < end or where[0] <= start < where[1] or _is_given_in(module, loop, where):
            yield loop


def _is_given_in(module: Module, loop: StepLoop, where: tuple[int, int]) -> bool:
    """Return whether a list of numbers, or of runs of rows, that a loop reads is made inside a byte range."""
    function = module.function_of(loop)
    once = {} if function is None else function.assigned_once
    names = {one.id for one in ast.walk(loop) if isinstance(one, ast.Name)}
    spans = [module.span(once[name]) for name in names if name in once and is_listing(module, once[name])]
    return any(where[0] <= start and end <= where[1] for start, end in spans)
