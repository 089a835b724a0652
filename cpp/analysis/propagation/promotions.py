"""Promotions of a file: passes over the remaining seeds, until no value must stay concrete."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ....codemods.model.rule import Context
from ....codemods.model.source_file import SourceFile
from ...syntax.declarations import Function
from ..file.eligibility import KernelCode
from ..file.file_analysis import FileAnalysis, knowledge
from ..file.sources import Refused, Seed, Wanted, seeds, without_remains
from ..graph.dataflow_facts import Rearranges, Writes
from ..graph.graph import Refusal, Value
from ..graph.reasons import SkipReason
from ..graph.solver import solve
from .propagation import Growth, propagate


@dataclass(frozen=True)
class Promotion:
    """One transaction: its seeds, its edits, and the names of the values that it passes through."""

    seeds: tuple[Seed, ...]
    writings: tuple[Writes | Rearranges, ...]
    through: tuple[str, ...]


@dataclass(frozen=True)
class Analysis:
    """The file's promotions, the seeds that stay concrete, and its kernel code."""

    know: FileAnalysis
    promotions: tuple[Promotion, ...]
    refusals: tuple[tuple[Seed, Refusal], ...]
    kernel_code: tuple[tuple[Function, KernelCode], ...]
    """Parts of eligible functions that only run on real data and contain none of the ``refusals``."""


@lru_cache(maxsize=4)
def analyse(
    source: SourceFile,
    context: Context,
    *,
    signatures: bool = False,
    wanted: tuple[Wanted, ...] = (),
    symbolic_arguments: frozenset[tuple[str, int]] = frozenset(),
) -> Analysis:
    """Return the promotions of a file. With ``signatures``, kernels whose schema takes SymInts are seeds too.

    A function that is ``wanted`` with another signature is promoted completely or not at all. ``symbolic_arguments``
    are those of operators outside of torch, by ``ns::name.overload`` and position.
    """
    know = knowledge(source, context)
    if not know.eligibility.functions:
        return Analysis(know, (), (), ())
    promotions, refusals = _promote(know, symbolic_arguments, signatures=signatures, wanted=wanted)
    calls = [seed.call.start_byte for seed, _ in refusals]
    silent = tuple(
        (function, part)
        for function in know.eligibility.functions
        for part in dict.fromkeys(know.eligibility.kernel_code[function.node.id])
        if part.reason is not SkipReason.DEVICE_BRANCH and not any(part.start <= call < part.end for call in calls)
    )
    return Analysis(know, tuple(promotions), tuple(refusals), silent)


def _promote(
    know: FileAnalysis,
    symbolic_arguments: frozenset[tuple[str, int]],
    *,
    signatures: bool,
    wanted: tuple[Wanted, ...],
) -> tuple[list[Promotion], list[Refused]]:
    """Return the promotions of a file, and each seed that must stay concrete with the place that requires it."""
    live, refused, kernel_code = seeds(know, signatures=signatures, wanted=wanted)
    while True:
        live, more = without_remains(live, refused)
        refused += more
        growth = propagate(know, live, kernel_code, symbolic_arguments)
        ordered = {seed.value: seed for seed in sorted(live, key=lambda seed: seed.call.start_byte)}
        found, transactions = solve(growth.graph, ordered)
        given_up = [(seed, found[seed.value]) for seed in live if seed.value in found]
        if not found:
            promotions = [_promotion(members, ordered, growth) for members in transactions]
            return promotions, sorted(refused, key=lambda pair: pair[0].call.start_byte)
        if not given_up:
            raise AssertionError(f"a refusal that no concrete call leads to: {growth.graph.sinks[0][1]}")
        refused += given_up
        live = [seed for seed in live if seed.value not in found]


def _promotion(members: frozenset[Value], seeds_by_value: dict[Value, Seed], growth: Growth) -> Promotion:
    promoted = tuple(seed for value, seed in seeds_by_value.items() if value in members)
    writings = tuple(one for value in members for one in growth.writings.get(value, ()))
    names = {growth.names[value] for value in members if value in growth.names and value not in seeds_by_value}
    return Promotion(promoted, writings, tuple(sorted(names)))
