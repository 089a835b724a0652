"""Everything the rules know of one C++ file in one torch, computed once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache

from ..codemods.engine.rule import Context
from ..codemods.engine.source import SourceFile
from ._contexts import arrive
from ._declarations import Function
from ._eligible import Eligibility, KernelCode, may_see_symbols
from ._flow import Conflict, Knowledge, Promotion, Seed, Steps, solve
from ._headers import HeaderIndex
from ._infer import Inference
from ._kernels import follow
from ._model import model_of
from ._tree import DEEPEST

_FRAMES = 20 * DEEPEST
"""Room for the steps that follow nodes inside one another, wherever in the stack they begin."""


@dataclass(frozen=True)
class Analysis:
    """The file's eligible functions, its promotions, and the concrete calls that stay."""

    know: Knowledge
    promotions: tuple[Promotion, ...]
    refusals: tuple[tuple[Seed, Conflict], ...]
    kernel_code: tuple[tuple[Function, KernelCode], ...]
    """The parts of eligible functions that run on real data only and hold none of the ``refusals``."""


@lru_cache(maxsize=4)
def worth_reading(source: SourceFile, context: Context) -> bool:
    """Whether a file can hold a function that sees symbolic sizes; a look at its text, no parse."""
    return may_see_symbols(source.content, context.api, all_functions=context.all_functions)


@lru_cache(maxsize=4)
def knowledge(source: SourceFile, context: Context) -> Knowledge:
    """The model, types and eligible functions of a file."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES))
    model = model_of(source)
    types = Inference(model, context.api)
    eligibility = Eligibility(model, context.api, source.path, all_functions=context.all_functions)
    return Knowledge(source.path, model, types, eligibility, context.api, HeaderIndex(context.api.include_dirs))


@lru_cache(maxsize=4)
def analyse(source: SourceFile, context: Context, *, signatures: bool = False) -> Analysis:
    """The promotions of a file; with ``signatures``, those too that start at a signature its schema has left behind."""
    know = knowledge(source, context)
    if not know.eligibility.functions:
        return Analysis(know, (), (), ())
    promotions, refusals = solve(know, Steps(arrive, follow), signatures=signatures)
    calls = [seed.call.start_byte for seed, _ in refusals]
    silent = tuple(
        (function, part)
        for function in know.eligibility.functions
        for part in dict.fromkeys(know.eligibility.kernel_code(function))
        if part.reason != "device-branch" and not any(part.start <= call < part.end for call in calls)
    )
    return Analysis(know, tuple(promotions), tuple(refusals), silent)
