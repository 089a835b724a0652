"""Caches that already contain torch's schemas and the indexes of its operator tests."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from symfix.codemods.engine import storage
from symfix.codemods.lab.isolation import Limits
from symfix.codemods.lab.variants import Laboratory
from symfix.codemods.torchapi import TorchApi
from symfix.codemods.torchapi.locating import locate
from symfix.codemods.verify.choose.choosing import coverage
from symfix.codemods.verify.choose.tracing import trace_index
from symfix.codemods.workflows.hunt.naming import operators_of

KINDS = ("coverage", "opinfos", "probes", "torchapi", "traced")


def cache_with_indexes(place: Path) -> Path:
    """Build a new cache folder at ``place`` with the schemas and indexes of the installed torch and nothing else."""
    torch = locate(None, None)
    with tempfile.TemporaryDirectory() as scratch:
        laboratory = Laboratory(torch.python, Path(scratch), Limits())
        operators_of(laboratory, torch)
        coverage(laboratory, torch, lambda _: None)
        trace_index(laboratory, torch)
    api = TorchApi.at(torch)
    api.dynamo_refusal("torch.sym_min")
    api.is_scripted("torch.sym_min")
    api.is_inlined("torch")
    for kind in KINDS:
        shutil.copytree(storage.folder(kind), place / "symfix" / storage.LAYOUT / kind)
    (place / "symfix").chmod(0o700)
    return place
