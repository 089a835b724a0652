"""Analysis results for one C++ file and one torch, computed once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ....codemods.model.rule import Context
from ....codemods.model.source_file import SourceFile
from ....codemods.torchapi import TorchApi
from ...syntax.headers import HeaderIndex
from ...syntax.model import Model, model_of
from ...syntax.project import NO_PROJECT, project_of
from ...syntax.tree import DEEPEST
from .eligibility import Eligibility
from .inference import Inference

_FRAMES = 20 * DEEPEST
"""Recursion limit for ``DEEPEST`` nested nodes, with room for the frames that precede the analysis."""


@dataclass(frozen=True)
class FileAnalysis:
    """The model, types and eligible functions of one file, with its torch."""

    path: Path
    model: Model
    types: Inference
    eligibility: Eligibility
    api: TorchApi
    headers: HeaderIndex
    min_torch: tuple[int, int] | None = None
    """Oldest torch that must run the result, or None for the torch that ``api`` describes."""


@lru_cache(maxsize=4)
def knowledge(source: SourceFile, context: Context) -> FileAnalysis:
    """Return the model, types and eligible functions of a file."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES))
    model = model_of(source)
    types = Inference(model, context.api)
    project = project_of(source.project) if source.project else NO_PROJECT
    eligibility = Eligibility(model, context.api, source.path, project, all_functions=context.all_functions)
    return FileAnalysis(source.path, model, types, eligibility, context.api, types.headers, context.min_torch)
