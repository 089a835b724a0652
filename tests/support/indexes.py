"""Caches that already contain torch's schemas and the indexes of its operator tests."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from symfix.codemods.harness.process_limits import Limits
from symfix.codemods.harness.torch_variant import Harness
from symfix.codemods.system import cache_folder
from symfix.codemods.torchapi import TorchApi
from symfix.codemods.torchapi.torch_finder import locate
from symfix.codemods.verify.choose.function_index import trace_index
from symfix.codemods.verify.choose.test_selection import coverage
from symfix.codemods.workflows.hunt.operator_names import operators_of

KINDS = ("coverage", "opinfos", "probes", "torchapi", "traced")


def cache_with_indexes(place: Path) -> Path:
    """Build a new cache folder at ``place`` with the schemas and indexes of the installed torch and nothing else."""
    torch = locate(None, None)
    with tempfile.TemporaryDirectory() as scratch:
        laboratory = Harness(torch.python, Path(scratch), Limits())
        operators_of(laboratory, torch)
        coverage(laboratory, torch, lambda _: None)
        trace_index(laboratory, torch)
    api = TorchApi.at(torch)
    api.dynamo_refusal("torch.sym_min")
    api.is_scripted("torch.sym_min")
    api.is_inlined("torch")
    for kind in KINDS:
        shutil.copytree(cache_folder.folder(kind), place / "symfix" / cache_folder.LAYOUT / kind)
    (place / "symfix").chmod(0o700)
    return place
