"""Everything the rules know of one C++ file in one torch, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ..codemods.rule import Context
from ..codemods.source import SourceFile
from ._contexts import arrive
from ._eligible import Eligibility
from ._flow import Conflict, Knowledge, Promotion, Seed, solve
from ._headers import HeaderIndex
from ._infer import Inference
from ._model import model_of


@dataclass(frozen=True)
class Analysis:
    """The file's eligible functions, its promotions, and the concrete calls that stay."""

    know: Knowledge
    promotions: tuple[Promotion, ...]
    refusals: tuple[tuple[Seed, Conflict], ...]


@lru_cache(maxsize=4)
def knowledge(source: SourceFile, context: Context) -> Knowledge:
    """The model, types and eligible functions of a file."""
    model = model_of(source)
    types = Inference(model, context.api)
    eligibility = Eligibility(model, context.api, all_functions=context.all_functions)
    return Knowledge(source.path, model, types, eligibility, context.api, HeaderIndex.load(context.api.include_dirs))


@lru_cache(maxsize=4)
def analyse(source: SourceFile, context: Context) -> Analysis:
    """The promotions of a file."""
    know = knowledge(source, context)
    if not know.eligibility.functions:
        return Analysis(know, (), ())
    promotions, refusals = solve(know, arrive)
    return Analysis(know, tuple(promotions), tuple(refusals))
